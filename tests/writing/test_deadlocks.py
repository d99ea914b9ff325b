"""Writers that need two locks never wait for each other in a circle."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from garden.application import Garden
from garden.events.database import connection
from garden.events.idempotency import InProgressError
from garden.events.pool import Pool, PoolBusyError, PooledConnection
from garden.events.store import EventStore
from tests.support.accounts import account_on
from tests.support.crowd import Asked, Crowd, Job
from tests.support.planted import NOTES, PROFILE, ada, anchors_of, code_of, ok, patching, plant
from tests.support.promises import broken_promises, text_of, told
from tests.support.waiting import until
from tests.writing.test_many_writers import by_threads

WAITING = (
    b"select count(*) from pg_stat_activity "
    b"where wait_event_type = 'Lock' and wait_event = 'advisory' and datname = current_database()"
)
HELD = (
    b"select count(*) from pg_locks where locktype = 'advisory' "
    b"and database = (select oid from pg_database where datname = current_database())"
)
MOVERS = 10


def notes_of(part: str) -> str:
    return f"users/ada/parts/{part}/notes.md"


def moving(path: str, new_path: str, **said: Any) -> Asked:
    return "fs.move", {"path": path, "newPath": new_path, **said}


def begin_notes(garden: Garden, *parts: str) -> None:
    for part in parts:
        ok(ada(garden).call("md.plant", {"path": notes_of(part)}))


def wait_until_so_many_wait(database: str, number: int) -> None:
    with connection(database) as opened:
        while opened.execute(WAITING).fetchone() != (number,):
            pass


@pytest.mark.parametrize(
    "call",
    [("md.snapshot_history", {"path": notes_of("z")}), moving(notes_of("z"), notes_of("zz"))],
    ids=["a snapshot", "a move"],
)
def test_a_document_that_many_moves_wait_for_is_not_kept_from_its_second_lock(
    garden: Garden, database: str, monkeypatch: pytest.MonkeyPatch, call: Asked
) -> None:
    parts = [f"a{number}" for number in range(MOVERS - 1)]
    begin_notes(garden, "z", *parts)
    session, has_first, go = ada(garden), Event(), Event()
    lock_first = EventStore._connect_and_lock

    def paused(store: EventStore, *words: Any) -> Any:
        stream = lock_first(store, *words)
        if stream.path == notes_of("z") and not has_first.is_set():
            has_first.set()
            go.wait()
        return stream

    monkeypatch.setattr(EventStore, "_connect_and_lock", paused)
    with ThreadPoolExecutor(MOVERS) as threads:
        one = threads.submit(session.call, *call)
        has_first.wait()
        others = [threads.submit(session.call, *moving(notes_of(part), notes_of("z"))) for part in parts]
        wait_until_so_many_wait(database, MOVERS - 1)
        go.set()
        assert code_of(one.result()) == "ok"
        codes = sorted(code_of(other.result()) for other in others)
    assert set(codes) <= {"ok", "already_exists"}
    assert codes.count("ok") == (1 if call[0] == "fs.move" else 0)
    assert broken_promises(garden) == []


def test_a_wait_for_a_connection_that_timed_out_does_not_start_again(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts, take = [0], Pool.take

    def counted(pool: Pool) -> PooledConnection:
        attempts[0] += 1
        return take(pool)

    monkeypatch.setattr(Pool, "take", counted)
    with account_on(database, size_max=1, lock_seconds=0, statement_seconds=0) as account:
        connection = account.pool.take()
        for work in (lambda: account.log("hm"), lambda: account.reader.head("ada", NOTES)):
            attempts[0] = 0
            with pytest.raises(PoolBusyError) as refusal:
                work()
            assert (refusal.value.code, attempts[0]) == ("unavailable", 1)
        account.pool.give_back(connection)


def test_moves_in_opposite_directions_do_not_wait_for_each_other_for_ever(garden: Garden) -> None:
    begin_notes(garden, "a")
    calls = [
        moving(*pair, idempotencyKey=str(number))
        for number, pair in enumerate([(notes_of("a"), notes_of("b")), (notes_of("b"), notes_of("a"))] * 20)
    ]
    envelopes = by_threads(garden, calls)
    assert {code_of(each) for each in envelopes} <= {"ok", "not_found", "already_exists"}
    moved = sum(each["ok"] for each in envelopes)
    assert moved >= 1
    versions = [len(told(garden, notes_of(part)).events) for part in "ab"]
    assert sum(versions) == 1 + 2 * moved
    assert broken_promises(garden) == []


def mixed_calls(number: int) -> list[Asked]:
    """Every operation on two documents, in both orders."""
    first, second = (NOTES, PROFILE) if number % 2 else (PROFILE, NOTES)
    here, there = (notes_of("a"), notes_of("b")) if number % 2 else (notes_of("b"), notes_of("a"))
    return [
        patching(first, anchors_of(first)[number % 20], f"said {number};"),
        ("md.snapshot_history", {"path": first, "rationale": f"snapshot {number}"}),
        patching(second, anchors_of(second)[number % 20], f"said {number};"),
        moving(here, there, idempotencyKey=f"move {number}"),
        ("md.snapshot_history", {"path": second, "rationale": f"snapshot {number}"}),
        ("fs.append", {"path": here, "text": f"said {number};"}),
        ("events.log", {"type": "observation", "rationale": f"logged {number}"}),
    ]


def assert_nothing_was_lost(garden: Garden, calls: list[Asked], envelopes: list[dict[str, Any]]) -> None:
    refused = {(tool, code_of(each)) for (tool, _), each in zip(calls, envelopes, strict=True)}
    expected = {"fs.move": {"not_found", "already_exists"}, "fs.append": {"not_found"}}
    assert all(code == "ok" or code in expected.get(tool, set()) for tool, code in refused), refused
    for (tool, args), each in zip(calls, envelopes, strict=True):
        if tool == "md.patch_section":
            assert each["ok"]
            assert text_of(garden, args["path"]).count(f"{args['change']['append']}\n") == 1
    assert broken_promises(garden) == []


def test_patches_snapshots_moves_and_words_at_once_from_forty_threads(garden: Garden) -> None:
    for path in (NOTES, PROFILE):
        plant(ada(garden), path)
    begin_notes(garden, "a")
    calls = [call for number in range(40) for call in mixed_calls(number)]
    with ThreadPoolExecutor(40) as threads:
        envelopes = list(threads.map(lambda call: ada(garden).call(*call), calls))
    assert_nothing_was_lost(garden, calls, envelopes)


def test_patches_snapshots_moves_and_words_at_once_from_eight_processes(garden: Garden, crowd: Crowd) -> None:
    for path in (NOTES, PROFILE):
        plant(ada(garden), path)
    begin_notes(garden, "a")
    jobs = [Job(mixed_calls(number) + mixed_calls(number + 8)) for number in range(8)]
    done = crowd.run(jobs)
    calls = [call for job in jobs for call in job.calls]
    assert_nothing_was_lost(garden, calls, [each for one in done for each in one.envelopes])


def test_a_second_lock_that_failed_halfway_is_released(garden: Garden, database: str) -> None:
    begin_notes(garden, "z")
    store = garden.services.store
    with (
        connection(database) as blocking,
        store.document(ada(garden).caller, notes_of("z")) as held,
        blocking.transaction(),
    ):
        # As a migration would. The document's lock is taken before the wait for this one.
        blocking.execute("lock table garden.documents in access exclusive mode")
        held.connection.execute("set lock_timeout = 50")
        with pytest.raises(InProgressError), store.lock_second(held, notes_of("zz")):
            pass
    with connection(database) as opened:
        until(lambda: opened.execute(HELD).fetchone() == (0,))
