"""A transaction is killed before each of its steps: afterwards all of it happened, or nothing."""

from itertools import count

import pytest

from garden.application import Garden
from garden.upkeep.reconciliation import reconcile
from tests.crash.sampling import FULL, chosen_steps
from tests.support.crowd import Asked, Crowd
from tests.support.planted import NOTES, PROFILE, ada, ok, patching
from tests.support.promises import broken_promises, text_of, told
from tests.support.transacting import DONE, NOT_DONE, done, edits, new_profile, times_said


def transaction(number: int) -> Asked:
    return "transaction", {"calls": edits(number), "idempotency_key": f"key {number}"}


@pytest.fixture
def steps(crowd: Crowd) -> list[str]:
    """The steps of a transaction; the first one may make folders."""
    crowd.call(transaction(1001))
    return crowd.call(transaction(1002)).steps


def put_in_order(garden: Garden) -> None:
    assert all(each.is_well for each in reconcile(garden.services, ["ada"]))


def test_a_transaction_killed_at_any_step_happens_wholly_or_not_at_all(
    garden: Garden, crowd: Crowd, steps: list[str]
) -> None:
    recorded = steps.index("begin_together")
    for number in chosen_steps(len(steps), "reconciled"):
        assert crowd.call(transaction(number), dies_before=number).killed, steps[number]
        put_in_order(garden)
        assert times_said(garden, number) == (DONE if number > recorded else NOT_DONE), steps[number]
    assert broken_promises(garden) == []


def test_a_killed_transaction_has_one_effect_when_sent_again(
    garden: Garden, crowd: Crowd, steps: list[str]
) -> None:
    for number in chosen_steps(len(steps), "sent again"):
        assert crowd.call(transaction(number), dies_before=number).killed, steps[number]
        again = [done(ada(garden), edits(number), f"key {number}")["results"] for _ in range(2)]
        assert times_said(garden, number) == DONE, steps[number]
        assert again[0][0]["result"] == again[1][0]["result"]
        assert [each["meta"]["replayed"] for each in again[1]] == [True] * 4
    assert broken_promises(garden) == []


def test_recovery_of_a_transaction_can_itself_be_killed_at_any_step(
    garden: Garden, crowd: Crowd, steps: list[str]
) -> None:
    """The profile was written before the kill, or not; the next edit of each document settles it."""
    for killed_before in ("exchange", "link"):
        for step in count(0, 2 if FULL else 15):
            number = 100 * steps.index(killed_before) + step
            assert crowd.call(transaction(number), dies_before=steps.index(killed_before)).killed
            nexts = [patching(path, "s4 v1", f"next {number};") for path in (NOTES, PROFILE)]
            was_killed = crowd.call(*nexts, dies_before=step).killed
            put_in_order(garden)
            assert times_said(garden, number) == DONE
            if not was_killed:
                break
        assert broken_promises(garden) == []


@pytest.mark.parametrize("edited", [PROFILE, NOTES])
def test_a_persons_edit_after_the_kill_is_kept_and_its_change_fails(
    garden: Garden, crowd: Crowd, steps: list[str], edited: str
) -> None:
    assert crowd.call(transaction(7), dies_before=steps.index("begin_together") + 1).killed
    with (garden.home.path / edited).open("a") as file:
        file.write("\n- by hand\n")
    put_in_order(garden)
    made = [2 * (edited != PROFILE), int(edited != NOTES), 1]
    assert times_said(garden, 7) == made
    assert "- by hand" in text_of(garden, edited)
    failed = [event.error for event in told(garden, edited).events if event.error]
    assert [error["code"] for error in failed] == ["conflict"]
    # Sent again it is not carried out in part a second time.
    answer = ada(garden).transaction(edits(7), "key 7")
    assert times_said(garden, 7) == made
    if answer["success"]:
        assert [each["meta"]["effectStands"] for each in answer["results"]] == [
            edited != PROFILE,
            edited != NOTES,
            True,
            edited != PROFILE,
        ]
    else:
        assert {each["error"]["code"] for each in answer["results"]} == {"idempotency_conflict"}
    assert broken_promises(garden) == []


def test_an_interrupted_transaction_is_finished_by_the_next_write_of_a_document(
    garden: Garden, crowd: Crowd, steps: list[str]
) -> None:
    assert crowd.call(transaction(8), dies_before=steps.index("begin_together") + 1).killed
    ok(ada(garden).call(*patching(NOTES, "s3 v1", "after it;")))
    assert text_of(garden, NOTES).index("said 8;") < text_of(garden, NOTES).index("after it;")
    ok(ada(garden).call(*patching(new_profile(8), "needs v1", "after it;")))
    assert times_said(garden, 8) == [0, 1, 1]
    put_in_order(garden)
    assert times_said(garden, 8) == DONE
    assert broken_promises(garden) == []
