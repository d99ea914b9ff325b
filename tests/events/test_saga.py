import itertools

import pytest

from garden.events.database import connection
from garden.events.saga import TRANSITIONS, StaleStateError, Status, check_transition
from tests.support.accounts import ADA, NOTES, Account, fresh_text, statement

OUTSIDE = statement(NOTES, type="external_edit", op="adopt", tool="events.adopt")
PAIRS = list(itertools.product(Status, Status))


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_only_four_transitions_are_allowed(old: Status, new: Status) -> None:
    if (old, new) in TRANSITIONS:
        check_transition(old, new)
    else:
        with pytest.raises(StaleStateError, match=f"An event does not go from {old} to {new}"):
            check_transition(old, new)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_the_database_enforces_the_same_transitions(
    account: Account, database: str, old: Status, new: Status
) -> None:
    event_id = account.edit(fresh_text()).event_id
    with connection(database) as owner:
        owner.execute("alter table garden.events disable trigger events_go_forward")
        owner.execute(_PUT, {"status": old, "event_id": event_id})
        owner.execute("alter table garden.events enable trigger events_go_forward")
        if (old, new) in TRANSITIONS:
            owner.execute(_PUT, {"status": new, "event_id": event_id})
        else:
            with pytest.raises(Exception, match=f"no way leads from {old} to {new}"):
                owner.execute(_PUT, {"status": new, "event_id": event_id})


_PUT = b"""
update garden.events
set status = %(status)s::text,
    written_at = now(),
    committed_at = case when %(status)s::text = 'committed' then now() end,
    failed_at = case when %(status)s::text = 'failed' then now() end,
    error = case when %(status)s::text = 'failed' then '{}'::jsonb end,
    after_hash = case when %(status)s::text in ('written', 'committed') then intended_hash end
where event_id = %(event_id)s
"""


def test_a_change_is_pending_then_written_then_committed(account: Account) -> None:
    with account.store.document(ADA, NOTES) as stream:
        pending = account.begin(stream, fresh_text())
        assert account.reader.event("ada", pending.event_id) == pending
        written = stream.mark_written(pending)
        assert account.reader.event("ada", pending.event_id) == written
        committed = stream.commit(written, {})
    stored = account.reader.event("ada", pending.event_id)
    assert stored == committed
    assert (pending.status, written.status, committed.status) == (
        Status.PENDING,
        Status.WRITTEN,
        Status.COMMITTED,
    )
    assert committed.after_hash == pending.intended_hash
    assert committed.committed_at is not None
    assert committed.written_at is not None
    assert pending.created_at < committed.written_at < committed.committed_at


def test_a_failed_change_leaves_the_head_and_names_its_reason(account: Account) -> None:
    account.edit("one\n")
    with account.store.document(ADA, NOTES) as stream:
        failed = stream.fail(
            account.begin(stream, "two\n"), {"code": "no_space", "message": "The disk is full."}
        )
    head = account.reader.head("ada", NOTES)
    assert head is not None
    assert (head.version, head.open_event_id, head.tail_sequence) == (1, None, 2)
    assert account.reader.event("ada", failed.event_id) == failed
    assert failed.error == {"code": "no_space", "message": "The disk is full."}
    assert account.edit("three\n").document_version == 2
    assert account.faults() == []


@pytest.mark.parametrize("step", ["mark_written", "commit", "finish", "fail"])
def test_a_step_from_a_stale_state_changes_nothing(account: Account, step: str) -> None:
    with account.store.document(ADA, NOTES) as stream:
        pending = account.begin(stream, "one\n")
        written = stream.mark_written(pending)
        committed = stream.commit(written, {"ok": True})
    account.texts[NOTES] = "one\n"
    head = account.reader.head("ada", NOTES)
    steps = {
        "mark_written": lambda late: late.mark_written(pending),
        "commit": lambda late: late.commit(written, {}),
        "finish": lambda late: late.finish(pending, {}),
        "fail": lambda late: late.fail(pending, {"code": "late"}),
    }
    with pytest.raises(StaleStateError), account.store.document(ADA, NOTES) as late:
        steps[step](late)
    assert account.reader.event("ada", pending.event_id) == committed
    assert account.reader.head("ada", NOTES) == head
    assert account.edit(fresh_text()).document_version == 2


def test_the_next_opener_finds_an_unfinished_change(account: Account) -> None:
    with account.store.document(ADA, NOTES) as stream:
        pending = account.begin(stream, fresh_text())
    with account.store.document(ADA, NOTES) as stream:
        assert stream.head.open_event_id == pending.event_id
        stream.finish(pending, {})
    assert account.faults() == []


def test_a_change_can_not_begin_while_another_is_unfinished(account: Account) -> None:
    with account.store.document(ADA, NOTES) as stream:
        pending = account.begin(stream, "one\n")
        with pytest.raises(StaleStateError, match=f"{pending.event_id} is not finished yet"):
            account.begin(stream, "two\n")
        with pytest.raises(StaleStateError):
            stream.record(OUTSIDE, account.change(stream, "two\n"))
        stream.finish(pending, {})
    assert account.faults() == []


def test_a_dead_writers_change_is_finished_and_the_next_made_under_one_lock(
    account: Account,
) -> None:
    with account.store.document(ADA, NOTES) as stream:
        account.begin(stream, "one\n")
    with account.store.document(ADA, NOTES) as stream:
        assert stream.head.open_event_id is not None
        left = account.reader.event("ada", stream.head.open_event_id)
        assert left is not None
        stream.fail(left, {"code": "stalled_before_write"}, keep=True)
        stream.finish(account.begin(stream, "two\n"), {})
        assert not stream.holds_lock
    assert account.faults() == []


def test_no_step_is_possible_after_the_lock_is_released(account: Account) -> None:
    with account.store.document(ADA, NOTES) as stream:
        stream.finish(account.begin(stream, "one\n"), {})
        with pytest.raises(StaleStateError, match="lock has been given back"):
            account.begin(stream, "two\n")
    head = account.reader.head("ada", NOTES)
    assert head is not None
    assert (head.version, head.tail_sequence) == (1, 1)


def test_an_edit_from_outside_is_committed_at_once_and_the_lock_is_kept(account: Account) -> None:
    account.edit("one\n")
    with account.store.document(ADA, NOTES) as stream:
        found = stream.record(OUTSIDE, account.change(stream, "one\ntwo by hand\n"))
        account.texts[NOTES] = "one\ntwo by hand\n"
        stream.finish(account.begin(stream, "one\ntwo by hand\nthree\n"), {})
    assert found.status is Status.COMMITTED
    assert account.reader.text_at("ada", NOTES, 2) == "one\ntwo by hand\n"
    assert account.reader.text_at("ada", NOTES, 3) == "one\ntwo by hand\nthree\n"
    assert account.faults() == []
