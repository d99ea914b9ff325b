"""A caller is killed while it uses an approval; the approval is never used twice."""

import pytest

from garden.application import Garden
from tests.crash.sampling import sample
from tests.support.crowd import Asked, Crowd
from tests.support.planted import NOTES, ada, code_of, ok, opened
from tests.support.promises import broken_promises


@pytest.mark.parametrize("part", sample([0.4, 0.0, 1.0, 0.8], 2))
def test_a_call_killed_after_it_took_its_approval_has_at_most_one_effect(
    garden: Garden, crowd: Crowd, part: float
) -> None:
    file = garden.home.path / "garden.toml"
    file.write_text(f'{file.read_text()}\n[gateway.permissions]\n"fs.append" = "ask"\n')
    with opened(garden.home) as asking:

        def approved(text: str) -> Asked:
            call = "fs.append", {"path": NOTES, "text": text, "idempotencyKey": text}
            refused = ada(asking).call(*call)
            grace = asking.session("ada", "grace", role="reviewer").caller
            asking.decisions.decide(grace, refused["error"]["details"]["approvalId"], "approved")
            return call

        steps = crowd.call(approved("learns the steps;")).steps
        call = approved("said once;")
        assert crowd.call(call, dies_before=round(part * (len(steps) - 1))).killed
        again = ada(asking).call(*call)
        before = (garden.home.path / NOTES).read_text()
        # Where nothing was recorded before the kill, a person is asked anew.
        assert (code_of(again), before.count("said once;")) in {("permission_required", 0), ("ok", 1)}
        states = [each.state for each in asking.decisions.list(ada(asking).caller)]
        assert states[-2:] == ["used", "used"]
        if code_of(again) != "ok":
            ok(ada(asking).call(*approved("said once;")))
        text = (garden.home.path / NOTES).read_text()
        assert text.count("said once;") == 1
        assert broken_promises(asking) == []
