"""A repair or restore is killed before every step, or meets other writes; all is in order afterwards."""

from collections.abc import Callable

import pytest

from garden.application import Garden
from garden.upkeep.status import status_of_user
from tests.crash.sampling import FULL, chosen_steps
from tests.support.crowd import Asked, Crowd, Job
from tests.support.planted import NOTES, PROFILE, ada, code_of, ok, patching
from tests.support.promises import broken_promises, text_of, told

ANCHOR = "<!-- @anchor: needs v1 -->\n"


@pytest.fixture
def crowd(garden: Garden, crowd: Crowd) -> Crowd:
    ok(ada(garden).call(*patching(PROFILE, "concerns v1", "said at first;")))
    ok(ada(garden).call(*patching(NOTES, "s3 v1", "said at first;")))
    return crowd


def damage(garden: Garden, path: str, number: int) -> None:
    """Remove an anchor and add a line, as an editor could."""
    file = garden.home.path / path
    anchor = ANCHOR if path == PROFILE else "<!-- @anchor: s5 v1 -->\n"
    text = file.read_text()
    assert anchor in text
    file.write_text(text.replace(anchor, ""))
    write_more(garden, path, number)


def lose(garden: Garden, path: str, _number: int) -> None:
    (garden.home.path / path).unlink()


def write_more(garden: Garden, path: str, number: int) -> None:
    file = garden.home.path / path
    # Not at the end: the Change Log keeps every line.
    file.write_text(file.read_text().replace("\n\n", f"\n\nby hand {number};\n\n", 1))


def repair(path: str, number: int) -> Asked:
    return "md.repair", {"path": path, "idempotencyKey": f"k{number}", "rationale": f"wish {number};"}


def restore(path: str, number: int) -> Asked:
    said = {"idempotencyKey": f"k{number}", "rationale": f"wish {number};"}
    return "md.restore", {"path": path, "version": 2, **said}


def states(garden: Garden) -> set[str]:
    return {status.state.value for status in status_of_user(garden.services, "ada")}


def effects(garden: Garden, path: str, why: str) -> list[str]:
    found = told(garden, path).committed
    return [str(event.event_id) for event in found if event.statement.rationale == why]


RECOVERIES = [
    pytest.param(spoil, ask, path, id=f"{ask.__name__} {spoil.__name__} {path}")
    for spoil, ask in ((damage, repair), (damage, restore), (lose, restore), (write_more, restore))
    for path in (PROFILE, NOTES)
]


@pytest.mark.parametrize(
    ("spoil", "ask", "path"), RECOVERIES if FULL else [*RECOVERIES[::4], *RECOVERIES[3::4]]
)
def test_a_repair_or_restore_killed_at_any_step_has_one_effect_when_sent_again(
    garden: Garden,
    crowd: Crowd,
    spoil: Callable[[Garden, str, int], None],
    ask: Callable[[str, int], Asked],
    path: str,
) -> None:
    spoil(garden, path, 0)
    crowd.call(ask(path, 0))
    spoil(garden, path, 1)
    steps = crowd.call(ask(path, 1)).steps
    assert steps[-1] == "answer"
    for step in chosen_steps(len(steps), spoil.__name__ + ask.__name__):
        number = step + 2
        spoil(garden, path, number)
        spoilt = text_of(garden, path) if spoil is not lose else None
        assert crowd.call(ask(path, number), dies_before=step).killed, steps[step]
        tool, args = ask(path, number)
        again = ok(ada(garden).call(tool, args))
        assert effects(garden, path, args["rationale"]) == [again["meta"]["eventId"]]
        assert ok(ada(garden).call(tool, args))["result"] == again["result"]
        texts = told(garden, path).replay().texts.values()
        assert spoilt is None or spoilt in texts
        assert broken_promises(garden) == []
        assert states(garden) == {"in step"}


def test_a_missing_file_stays_missing_after_a_restore_is_killed_before_its_write(
    garden: Garden, crowd: Crowd
) -> None:
    lose(garden, PROFILE, 0)
    steps = crowd.call(restore(PROFILE, 0)).steps
    lose(garden, PROFILE, 1)
    assert crowd.call(restore(PROFILE, 1), dies_before=steps.index("add_event") + 1).killed
    assert states(garden) == {"in step", "open"}
    refused = ada(garden).call(*patching(PROFILE, "concerns v1", "more"))
    assert "garden restore" in refused["error"]["hint"]
    failed = told(garden, PROFILE).events[-1]
    assert failed.error is not None
    assert failed.error["code"] == "stalled_before_write"
    assert states(garden) == {"in step", "missing"}
    ok(ada(garden).call(*restore(PROFILE, 1)))
    assert broken_promises(garden) == []


def test_concurrent_repairs_restores_and_writes_run_one_after_the_other(garden: Garden, crowd: Crowd) -> None:
    damage(garden, PROFILE, 0)
    damaged = text_of(garden, PROFILE)
    jobs = [
        Job([repair(PROFILE, 1)]),
        Job([repair(PROFILE, 2)]),
        Job([restore(PROFILE, 3)]),
        Job([restore(PROFILE, 4)]),
        *(Job([patching(PROFILE, "needs v1", f"said {number};")]) for number in range(4)),
    ]
    done = crowd.run(jobs)
    codes = [code_of(each.envelopes[0]) for each in done]
    assert codes[:4] == ["ok"] * 4
    assert set(codes[4:]) <= {"ok", "document_damaged"}
    account = told(garden, PROFILE).replay()
    adopted = [event for event in account.committed if event.statement.type == "external_edit"]
    assert [account.texts[event.document_version or 0] for event in adopted] == [damaged]
    kept = [event for event in account.committed if event.statement.op == "append_section"]
    assert len(kept) == 1 + codes[4:].count("ok")
    assert broken_promises(garden) == []
    assert states(garden) == {"in step"}
