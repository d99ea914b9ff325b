"""Where the calls of Linux are missing, a writer killed before any step leaves everything in order too."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from garden.application import Garden
from tests.crash.test_every_step import Asking, append_to_notes, before_every_step, patch_profile
from tests.support.crowd import Crowd, crowd_in
from tests.support.planted import NOTES, PROFILE, ada, ok, plant
from tests.support.promises import broken_promises, text_of


@pytest.fixture(scope="module")
def forker() -> Iterator[Crowd]:
    """A process that forks others, without what other systems lack."""
    with crowd_in(Path("/"), portable=True) as crowd:
        yield crowd


@pytest.fixture
def portable(garden: Garden, forker: Crowd) -> Crowd:
    """The same in a garden with a profile and notes."""
    plant(ada(garden), PROFILE)
    plant(ada(garden), NOTES)
    return forker.at(garden.home.path)


@pytest.mark.parametrize("ask", [patch_profile, append_to_notes])
def test_a_request_killed_at_any_step_has_one_effect_when_sent_again(
    garden: Garden, portable: Crowd, ask: Asking
) -> None:
    for number in before_every_step(portable, f"portable {ask.__name__}", ask):
        tool, args = ask(number)
        ok(ada(garden).call(tool, args))
        assert text_of(garden, args["path"]).count(f"said {number};") == 1
        assert broken_promises(garden) == []


def test_the_portable_way_renames_instead_of_exchanging(garden: Garden, portable: Crowd) -> None:
    done = portable.call(append_to_notes(1))
    assert done.steps.index("rename") == done.steps.index("exchange") + 1
    assert "said 1;" in text_of(garden, NOTES)
