"""Sweeping settles stalled sagas, counts each attempt, and tries none for ever."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from errno import ENOSPC
from itertools import chain
from typing import Any

import pytest

from garden.application import Garden
from garden.events.database import DatabaseUnavailableError
from garden.files.failpoints import Failpoint, watch_failpoints
from garden.files.paths import GardenPath
from garden.session import Session
from garden.upkeep.reconciliation import Reconciliation, adopt, clear_strays, forget_expired, reconcile, sweep
from garden.upkeep.status import State, status_of_user
from garden.writing.write_path import WritePath
from tests.support.gardens import events_of, file_of, ok, out_of_step
from tests.support.planted import ada, forget_heads
from tests.support.promises import broken_promises
from tests.support.stalled import leave_open
from tests.support.unnumbered import without_numbering

NOW = timedelta(0)
NOTES = "users/ada/notes.md"
OTHERS = [f"users/ada/parts/p{number}/notes.md" for number in range(5)]


@pytest.fixture
def session(garden: Garden) -> Session:
    session = ada(garden)
    for path in (NOTES, *OTHERS):
        ok(session, "md.plant", path=path)
    return session


def swept(garden: Garden, pause_seconds: float = 0) -> list[Reconciliation]:
    return list(sweep(garden.services, NOW, pause_seconds=pause_seconds))


def test_a_written_change_is_finished_and_an_unwritten_one_undone(garden: Garden, session: Session) -> None:
    leave_open(garden, NOTES, "written", written=True)
    leave_open(garden, OTHERS[0], "not written")
    assert [(each.path, each.outcome) for each in swept(garden)] == [
        (NOTES, "finished"),
        (OTHERS[0], "undone"),
    ]
    assert events_of(session, NOTES)[-1] == "append_file committed"
    assert events_of(session, OTHERS[0])[-1] == "append_file failed"
    assert broken_promises(garden) == []
    assert swept(garden) == []
    assert garden.services.recoveries.counts() == (0, 0)


@pytest.mark.usefixtures("session")
def test_a_young_saga_is_left_to_its_writer(garden: Garden) -> None:
    leave_open(garden, NOTES, "just begun")
    assert list(sweep(garden.services, timedelta(minutes=1))) == []
    assert len(swept(garden)) == 1


def test_more_than_a_batch_is_swept(
    garden: Garden, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("garden.upkeep.reconciliation._BATCH_SAGAS", 2)
    for path in OTHERS:
        leave_open(garden, path, "more")
    assert Counter(each.path for each in swept(garden, pause_seconds=5)) == Counter(OTHERS)
    assert all(events_of(session, path)[-1] == "append_file failed" for path in OTHERS)


@pytest.fixture
def _few_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up after two attempts instead of ten; each waits for the writer's lock."""
    monkeypatch.setenv("GARDEN_UPKEEP_ATTEMPTS", "2")


@pytest.mark.usefixtures("_few_attempts", "session")
def test_a_document_of_a_live_writer_is_passed_over_and_not_counted(garden: Garden) -> None:
    leave_open(garden, NOTES, "more")
    leave_open(garden, OTHERS[0], "more")
    with garden.services.store.document(ada(garden).caller, NOTES):
        for _ in range(garden.settings.upkeep.attempts + 1):
            found = {each.path: each.outcome for each in swept(garden)}
            assert found.pop(NOTES) == "busy"
            assert found in ({OTHERS[0]: "undone"}, {})
    assert [each.outcome for each in swept(garden)] == ["undone"]


@pytest.mark.usefixtures("session")
def test_a_saga_that_can_not_be_settled_is_quarantined_with_the_reason(garden: Garden) -> None:
    leave_open(garden, NOTES, "more")
    leave_open(garden, OTHERS[0], "more")
    before = file_of(garden, NOTES).read_bytes()
    file_of(garden, NOTES).write_bytes(b"\xff")
    attempts = garden.settings.upkeep.attempts
    rounds = [swept(garden) for _ in range(attempts + 2)]
    assert [[(each.path, each.outcome) for each in done] for done in rounds] == [
        [(NOTES, "refused"), (OTHERS[0], "undone")],
        *[[(NOTES, "refused")]] * (attempts - 1),
        [(NOTES, "quarantined")],
        [],
    ]
    [status] = (each for each in status_of_user(garden.services, "ada") if not each.in_step)
    assert status.state is State.QUARANTINED
    assert status.message == (
        "An interrupted change could not be settled in 10 attempts. "
        "A document is UTF-8 text, and this file has no valid UTF-8 at byte 0. "
        "Remove the cause, then run 'garden reconcile --quarantined' to try once more."
    )
    # A person has fixed the file and releases the saga.
    file_of(garden, NOTES).write_bytes(before)
    garden.services.recoveries.release()
    assert [each.outcome for each in swept(garden)] == ["undone"]
    assert broken_promises(garden) == []


def test_adopting_numbers_what_killed_writers_left_out_of_the_feed(garden: Garden, session: Session) -> None:
    known = garden.feed.now("ada")
    with without_numbering():
        written = ok(session, "fs.append", path=NOTES, text="more")["meta"]["eventId"]
    assert garden.feed.now("ada") == known
    assert list(adopt(garden.services, "ada")) == []
    assert [str(entry.event_id) for entry in garden.feed.since("ada", known).entries] == [written]


@pytest.mark.usefixtures("session")
def test_a_saga_that_kills_the_sweep_is_not_tried_for_ever(garden: Garden) -> None:
    leave_open(garden, NOTES, "more")

    def die(step: Failpoint) -> None:
        if step is Failpoint.STALLED_READ:
            raise SystemExit

    with watch_failpoints(die):
        for _ in range(garden.settings.upkeep.attempts):
            with pytest.raises(SystemExit):
                swept(garden)
        [given_up] = swept(garden)
    assert given_up.outcome == "quarantined"
    assert given_up.message.endswith("Every attempt ended without a reason, as after a crash.")


def test_sagas_kept_open_by_a_full_disk_are_settled_when_there_is_room(
    garden: Garden, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in OTHERS:
        leave_open(garden, path, "written", written=True)

    def full(*_: object) -> None:
        raise OSError(ENOSPC, "")

    with monkeypatch.context() as patched:
        patched.setattr("garden.files.plain_files._write_all", full)
        rounds = [swept(garden) for _ in range(garden.settings.upkeep.attempts + 2)]
    assert {each.outcome for done in rounds for each in done} == {"refused"}
    assert [len(done) for done in rounds] == [len(OTHERS)] * len(rounds)
    assert garden.services.recoveries.counts() == (len(OTHERS), 0)
    stalled = [each for each in status_of_user(garden.services, "ada") if not each.in_step]
    assert {(each.state, each.message) for each in stalled} == {
        (
            State.OPEN,
            "A change was interrupted. The file system refused: "
            "No space left on device. The service tries again by itself.",
        )
    }
    assert [each.outcome for each in swept(garden)] == ["finished"] * len(OTHERS)
    assert all(events_of(session, path)[-1] == "append_file committed" for path in OTHERS)
    assert broken_promises(garden) == []


@pytest.mark.usefixtures("session")
def test_a_lost_database_ends_the_sweep_and_counts_no_attempt(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in OTHERS[:2]:
        leave_open(garden, path, "more")
    asked, sweeps = [], 2 * garden.settings.upkeep.attempts + 2

    def gone(_: WritePath, _caller: object, path: GardenPath) -> None:
        asked.append(path.text)
        raise DatabaseUnavailableError("The database is not available.")

    with monkeypatch.context() as patched:
        patched.setattr(WritePath, "settle_and_adopt", gone)
        for _ in range(sweeps):
            with pytest.raises(DatabaseUnavailableError):
                swept(garden)
    assert len(asked) == sweeps
    assert [each.outcome for each in swept(garden)] == ["undone"] * 2


def test_the_next_write_settles_a_quarantined_saga(garden: Garden, session: Session) -> None:
    leave_open(garden, NOTES, "more", written=True)
    for _ in range(garden.settings.upkeep.attempts + 1):
        garden.services.recoveries.claim(NOW, limit=1, pause_seconds=0)
    assert garden.services.recoveries.counts() == (1, 1)
    ok(session, "fs.append", path=NOTES, text="and more")
    assert events_of(session, NOTES)[-2:] == ["append_file committed"] * 2
    assert list(forget_expired(garden.services)) == []
    assert garden.services.recoveries.counts() == (0, 0)


def test_many_sweeps_at_once_settle_each_saga_once(garden: Garden, session: Session) -> None:
    for number, path in enumerate(OTHERS):
        leave_open(garden, path, "more", written=number % 2 == 0)
    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(lambda _: swept(garden), range(4)))
    counts = Counter((each.path, each.outcome) for each in chain(*done) if each.outcome != "unchanged")
    assert {outcome for _, outcome in counts} <= {"finished", "undone", "busy"}
    assert {path for path, outcome in counts if outcome != "busy"} == set(OTHERS)
    assert max(count for (_, outcome), count in counts.items() if outcome != "busy") == 1
    assert [events_of(session, path)[-1].split()[1] for path in OTHERS] == [
        "committed", "failed", "committed", "failed", "committed",
    ]  # fmt: skip
    assert broken_promises(garden) == []


def test_both_halves_of_a_move_are_settled(garden: Garden, session: Session) -> None:
    new = "users/ada/parts/moved/notes.md"

    def die(step: Failpoint) -> None:
        if step is Failpoint.REPLACED:
            raise SystemExit

    with watch_failpoints(die), pytest.raises(SystemExit):
        session.call("fs.move", {"path": NOTES, "newPath": new})
    assert {each.path: each.outcome for each in swept(garden)} == {NOTES: "finished", new: "finished"}
    assert out_of_step(garden) == []
    assert not file_of(garden, NOTES).exists()


@pytest.mark.usefixtures("session")
def test_temporary_files_of_killed_writers_are_removed(garden: Garden) -> None:
    strays = [
        file_of(garden, f"users/ada/.new-notes.md-{'0' * 16}"),
        file_of(garden, f"users/ada/parts/p1/.new-profile.md-{'1' * 16}"),
    ]
    for stray in strays:
        stray.write_text("half")
    mine = file_of(garden, "users/ada/.new-idea.txt")
    mine.write_text("a person's own")
    found = {each.path: each.outcome for each in clear_strays(garden.services, "ada")}
    assert found == {NOTES: "cleared", "users/ada/parts/p1/profile.md": "cleared"}
    assert not any(stray.exists() for stray in strays)
    assert mine.exists()


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("tried", [False, True], ids=["under the lock", "before the lock"])
def test_clearing_strays_does_not_disturb_a_live_writer(garden: Garden, tried: bool) -> None:
    """Under the lock its temporary file stays; before the lock it may go, and is written once more."""
    seen: list[Any] = []
    if not tried:
        forget_heads(garden)

    def look(step: Failpoint) -> None:
        if step is Failpoint.PREPARED:
            # In another thread, as a reconciler would be: this one holds the lock.
            with ThreadPoolExecutor(1) as thread:
                found = thread.submit(lambda: list(clear_strays(garden.services, "ada"))).result()
                seen.append([each.outcome for each in found])

    with watch_failpoints(look):
        ok(ada(garden), "fs.append", path=NOTES, text="more")
    assert seen == [["cleared"] if tried else []]
    assert file_of(garden, NOTES).read_text().count("more") == 1
    assert broken_promises(garden) == []


def test_reconcile_settles_even_the_youngest_saga(garden: Garden, session: Session) -> None:
    leave_open(garden, NOTES, "more", written=True)
    with file_of(garden, OTHERS[0]).open("a") as file:
        file.write("\nby hand\n")
    stray = file_of(garden, f"users/ada/.new-notes.md-{'0' * 16}")
    stray.write_text("half")
    outcomes = {each.path: each.outcome for each in reconcile(garden.services, ["ada"])}
    assert outcomes == {NOTES: "finished", OTHERS[0]: "adopted"}
    assert not stray.exists()
    assert events_of(session, OTHERS[0])[-1] == "external_edit committed"
    assert list(reconcile(garden.services, ["ada"])) == []
