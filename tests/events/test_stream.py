import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from garden.events.database import connection
from garden.events.pool import NotRecordableError
from garden.events.store import EventStore, lock_number
from tests.support.accounts import ADA, NOTES, Account, account_on, asking, fresh_text
from tests.support.waiting import until


def round_trips(account: Account, work: Callable[[], object]) -> tuple[int, int]:
    """Count the Sync messages (round trips) and Parse messages of a pool's only connection."""
    with tempfile.TemporaryFile() as trace:
        with account.pool.connection() as connection:
            connection.pgconn.trace(trace.fileno())
        work()
        with account.pool.connection() as same:
            assert same is connection
            connection.pgconn.untrace()
        trace.seek(0)
        lines = trace.read().decode().splitlines()
    return sum("Sync" in line for line in lines), sum("Parse\t" in line for line in lines)


def test_a_change_costs_three_round_trips_and_reuses_its_statements(database: str) -> None:
    with account_on(database, size_max=1) as account:
        for number in range(3):
            account.edit(fresh_text(), asked=asking(f"warm {number}"))
        assert round_trips(account, lambda: account.edit(fresh_text(), asked=asking("counted"))) == (3, 0)


def test_a_statement_costs_two_round_trips(database: str) -> None:
    with account_on(database, size_max=1) as account:
        for _ in range(3):
            account.log("warm")
        assert round_trips(account, lambda: account.log("hm")) == (2, 0)


def test_the_callers_work_begins_when_the_statement_is_sent(account: Account, database: str) -> None:
    """The change is committed while the work goes on."""
    with connection(database) as watcher, account.store.document(ADA, NOTES) as stream:
        event = account.begin(stream, fresh_text())

        def wait_for_commit() -> None:
            status = "select status from garden.events where event_id = %s"
            until(lambda: watcher.execute(status, [event.event_id]).fetchone() == ("committed",))

        stream.finish(event, {}, meanwhile=wait_for_commit)


def test_only_steps_that_recovery_can_not_repeat_wait_for_the_disk(database: str) -> None:
    """The setting inside each function is the only visible sign of this."""
    with connection(database) as opened:
        functions = opened.execute(
            "select proname || '(' || array_to_string(proargtypes::regtype[], ' '), prosrc from pg_proc"
            " where pronamespace = 'garden'::regnamespace and prosrc like '%act_for(%'"
        ).fetchall()
    durable = {name for name, source in functions if "'on')" in source}
    deferred = {name.split("(")[0] for name, source in functions if "'off')" in source}
    for name in ("record_event(garden.event_v1", "record_annotation(garden.annotation_v1", "end_event("):
        assert any(each.startswith(name) for each in durable), name
    assert deferred == {"mark_written", "number_stream", "number_rest", "take_calls"}


def test_edits_of_one_document_wait_for_each_other_and_form_one_chain(account: Account) -> None:
    with ThreadPoolExecutor(8) as threads:
        versions = list(threads.map(lambda _: account.edit_again().document_version, range(40)))
    assert set(versions) == set(range(1, 41))
    assert account.faults() == []


def test_ids_sort_as_their_sequence_even_if_the_clock_goes_back(database: str) -> None:
    clock = [datetime(2026, 11, 18, tzinfo=UTC)]
    with account_on(database) as account:
        account.store = EventStore(account.pool, lambda: account.keyring, lambda: clock[0])
        events = []
        for _ in range(5):
            events.append(account.edit(fresh_text()))
            clock[0] -= timedelta(hours=1)
        assert events == sorted(events, key=lambda event: event.event_id)
        assert account.faults() == []


def test_a_refusal_between_the_steps_releases_the_lock(account: Account) -> None:
    with pytest.raises(RuntimeError), account.store.document(ADA, NOTES):
        raise RuntimeError("refused by a guard")
    assert account.edit("one\n").document_version == 1


def test_a_stream_that_can_not_be_made_leaves_no_lock_on_a_shared_connection(
    account: Account, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("garden.events.store.LockedStream", lambda *_, **__: 1 // 0)
        with pytest.raises(ZeroDivisionError), account.store.document(ADA, NOTES):
            pass
    with account_on(database, lock_seconds=2) as other:
        assert other.edit("one\n").document_version == 1


def test_locks_of_different_streams_differ() -> None:
    numbers = {
        lock_number(user, path) for user in ("ada", "ben") for path in ("", NOTES, "users/ben/notes.md")
    }
    assert len(numbers) == 6


@pytest.mark.parametrize(
    "said",
    [
        {"rationale": "a\x00b"},
        {"rationale": "\ud800"},
        {"edit": {"text": "a\x00b"}},
        {"type": "Not A Label"},
        {"override_rationale": "two\nlines"},
    ],
    ids=["NUL", "surrogate", "NUL in JSON", "label", "two lines"],
)
def test_a_refused_value_leaves_nothing_behind(account: Account, said: dict[str, object]) -> None:
    with pytest.raises(NotRecordableError), account.store.document(ADA, NOTES, asking("k")) as stream:
        account.begin(stream, "one\n", **said)
    assert account.reader.head("ada", NOTES) is None
    assert account.edit("one\n", asked=asking("k")).document_version == 1
