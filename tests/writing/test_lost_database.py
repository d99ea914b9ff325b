"""The database goes away during a write, or a connection that holds a lock is cut."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any
from uuid import UUID

import pytest

from garden.application import Garden
from garden.events.database import connection
from garden.events.stream import LockedStream
from garden.files import prepared_file
from garden.files.errors import SyncFailedError
from garden.files.garden_files import GardenFiles
from garden.files.prepared_file import PreparedFile
from garden.home.embedded import EmbeddedPostgres
from garden.upkeep.reconciliation import reconcile
from tests.support.crowd import Asked
from tests.support.planted import NOTES, PROFILE, ada, code_of, ok, opened, patching, plant
from tests.support.prepared_home import copy_prepared_home
from tests.support.promises import broken_promises, text_of, told

Step = Callable[..., Any]
ASKED = patching(PROFILE, "concerns v1", "said once;", idempotencyKey="the same")
CUT = (
    b"select pg_terminate_backend(pid, 10000) from pg_stat_activity "
    b"where application_name ~ '^memory-garden [0-9]' and datname = current_database() "
    b"and pid <> pg_backend_pid()"
)


@pytest.fixture
def own_server(folder: Path) -> EmbeddedPostgres:
    """A server that only this test uses, and may stop."""
    server = EmbeddedPostgres(copy_prepared_home(folder / "home"))
    server.ensure_running()
    return server


@pytest.fixture
def own_garden(own_server: EmbeddedPostgres) -> Iterator[Garden]:
    with opened(own_server.home) as garden:
        plant(ada(garden), PROFILE)
        plant(ada(garden), NOTES)
        yield garden


def once(
    step: Step, *, before: Callable[[], object] | None = None, after: Callable[[], object] | None = None
) -> Step:
    """Call a function before or after a step, the first time."""
    todo = [True]

    def stepping(*words: Any, **named: Any) -> Any:
        first = bool(todo) and todo.pop()
        if first and before:
            before()
        done = step(*words, **named)
        if first and after:
            after()
        return done

    return stepping


@pytest.mark.parametrize(
    ("owner", "step", "immediately"),
    [
        (LockedStream, "begin", True),
        (PreparedFile, "put", True),
        (LockedStream, "finish", True),
        (LockedStream, "finish", False),
    ],
    ids=["crash before begin", "crash before replace", "crash before finish", "shutdown before finish"],
)
def test_a_write_that_loses_the_database_is_unavailable_and_can_be_sent_again(
    own_server: EmbeddedPostgres,
    own_garden: Garden,
    monkeypatch: pytest.MonkeyPatch,
    owner: type[object],
    step: str,
    immediately: bool,
) -> None:
    stop = lambda: own_server.stop(immediately=immediately)  # noqa: E731
    monkeypatch.setattr(owner, step, once(getattr(owner, step), before=stop))
    error = ada(own_garden).call(*ASKED)["error"]
    assert error["code"] == "unavailable"
    was_written = text_of(own_garden, PROFILE).count("said once;")
    assert was_written == (0 if step == "begin" else 1)
    if was_written:
        assert "Send the same request again" in error["hint"]

    own_server.ensure_running()
    again = ok(ada(own_garden).call(*ASKED))
    assert again["meta"].get("replayed", False) is bool(was_written)
    if was_written:
        assert again["meta"]["eventId"] == error["details"]["eventId"]
    assert ok(ada(own_garden).call(*ASKED))["result"] == again["result"]
    assert text_of(own_garden, PROFILE).count("said once;") == 1
    assert len(told(own_garden, PROFILE).committed) == 2
    assert broken_promises(own_garden) == []


def test_a_refusal_of_the_files_is_answered_even_if_it_can_not_be_recorded(
    own_server: EmbeddedPostgres, own_garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edited_and_stopped() -> None:
        with (own_garden.home.path / PROFILE).open("a") as file:
            file.write("\nby hand;\n")
        own_server.stop()

    monkeypatch.setattr(PreparedFile, "put", once(PreparedFile.put, before=edited_and_stopped))
    assert code_of(ada(own_garden).call(*ASKED)) == "precondition_failed"
    own_server.ensure_running()
    ok(ada(own_garden).call(*ASKED))
    assert text_of(own_garden, PROFILE).count("by hand;") == 1
    assert text_of(own_garden, PROFILE).count("said once;") == 1
    assert broken_promises(own_garden) == []


def test_a_move_that_loses_the_database_can_be_sent_again(
    own_server: EmbeddedPostgres, own_garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_path = "users/ada/parts/critic/notes.md"
    asked = "fs.move", {"path": NOTES, "newPath": new_path, "idempotencyKey": "the same"}
    monkeypatch.setattr(GardenFiles, "move", once(GardenFiles.move, after=own_server.stop))
    error = ada(own_garden).call(*asked)["error"]
    assert (error["code"], "Send the same request again" in error["hint"]) == ("unavailable", True)
    own_server.ensure_running()
    again = ok(ada(own_garden).call(*asked))
    assert again["meta"]["replayed"]
    assert not (own_garden.home.path / NOTES).exists()
    assert broken_promises(own_garden) == []


def test_a_lock_that_can_not_be_released_does_not_change_the_answer(
    own_server: EmbeddedPostgres, own_garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an edit without effect, releasing the lock is the only statement left."""
    before = text_of(own_garden, PROFILE)
    monkeypatch.setattr(LockedStream, "release", once(LockedStream.release, before=own_server.stop))
    answer = ok(ada(own_garden).call("fs.write", {"path": PROFILE, "content": before, "idempotencyKey": "k"}))
    assert answer["meta"]["unchanged"]
    own_server.ensure_running()
    ok(ada(own_garden).call(*ASKED))
    assert broken_promises(own_garden) == []


class Paused:
    """A writer that pauses right before or after it replaces the file, while its connection is cut."""

    def __init__(
        self,
        garden: Garden,
        database: str,
        monkeypatch: pytest.MonkeyPatch,
        asked: Asked = ASKED,
        *,
        where: str,
    ) -> None:
        self._reached, self._go = Event(), Event()
        self._database = database
        self._threads = ThreadPoolExecutor(1)
        monkeypatch.setattr(PreparedFile, "put", once(PreparedFile.put, **{where: self._pause}))
        self._call = self._threads.submit(ada(garden).call, *asked)
        while not self._reached.wait(0.1):
            assert not self._call.done(), self._call.result()
        with connection(database) as administration:
            administration.execute(CUT)

    def _pause(self) -> None:
        self._reached.set()
        self._go.wait()

    def resume(self) -> dict[str, Any]:
        self._go.set()
        answer = self._call.result()
        self._threads.shutdown()
        return answer


def test_a_writer_that_lost_its_lock_can_not_overwrite_the_next(
    garden: Garden, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada(garden), PROFILE)
    paused = Paused(garden, database, monkeypatch, where="before")
    ok(ada(garden).call(*patching(PROFILE, "needs v1", "taken over")))
    text = text_of(garden, PROFILE)
    assert code_of(paused.resume()) == "precondition_failed"
    assert text_of(garden, PROFILE) == text
    assert [event.status for event in told(garden, PROFILE).events] == ["committed", "failed", "committed"]
    assert broken_promises(garden) == []
    ok(ada(garden).call(*ASKED))
    assert text_of(garden, PROFILE).count("said once;") == 1


def test_a_change_whose_writer_lost_its_lock_is_settled_by_the_next(
    garden: Garden, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada(garden), PROFILE)
    paused = Paused(garden, database, monkeypatch, where="after")
    ok(ada(garden).call(*patching(PROFILE, "needs v1", "taken over")))
    error = paused.resume()["error"]
    assert error["code"] == "unavailable"
    again = ok(ada(garden).call(*ASKED))
    assert again["meta"]["replayed"]
    assert again["meta"]["eventId"] == error["details"]["eventId"]
    assert text_of(garden, PROFILE).count("said once;") == 1
    assert broken_promises(garden) == []


@pytest.mark.parametrize("begins", [False, True], ids=["a document that is there", "a new one"])
def test_a_writer_whose_change_was_settled_finds_no_file_to_put_in_place(
    garden: Garden, database: str, monkeypatch: pytest.MonkeyPatch, begins: bool
) -> None:
    asked: Asked = ("md.plant", {"path": PROFILE}) if begins else ASKED
    if not begins:
        plant(ada(garden), PROFILE)
    paused = Paused(garden, database, monkeypatch, asked, where="before")
    # Another caller opens the document, settles the paused write, and is refused.
    refused = ada(garden).call(*patching(PROFILE, "needs v1", "never said", ifMatch="none"))
    assert code_of(refused) == "precondition_failed"
    before = {path: path.read_bytes() for path in garden.home.users.rglob("*.md")}
    assert code_of(paused.resume()) == "precondition_failed"
    assert {path: path.read_bytes() for path in garden.home.users.rglob("*.md")} == before
    again = ok(ada(garden).call(*asked))
    assert "replayed" not in again["meta"]
    assert [event.status for event in told(garden, PROFILE).events][-2:] == ["failed", "committed"]
    assert broken_promises(garden) == []


def test_a_change_that_the_disk_did_not_confirm_is_synced_first_and_not_repeated(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_confirmed() -> None:
        raise SyncFailedError(replaced=True)

    plant(ada(garden), PROFILE)
    with monkeypatch.context() as patched:
        patched.setattr(PreparedFile, "put", once(PreparedFile.put, after=not_confirmed))
        assert code_of(ada(garden).call(*ASKED)) == "unavailable"
        pending = told(garden, PROFILE).events[-1]
        assert pending.status == "pending"
    inode = (garden.home.path / PROFILE).stat().st_ino
    with monkeypatch.context() as patched:
        patched.setattr(PreparedFile, "put", once(PreparedFile.put, before=not_confirmed))
        # Until the disk confirms, the document is closed to every caller.
        assert code_of(ada(garden).call(*patching(PROFILE, "needs v1", "of another"))) == "unavailable"
    assert told(garden, PROFILE).events[-1].status == "pending"
    again = ok(ada(garden).call(*ASKED))
    assert again["meta"]["replayed"]
    assert again["meta"]["eventId"] == str(pending.event_id)
    assert (garden.home.path / PROFILE).stat().st_ino != inode
    assert text_of(garden, PROFILE).count("said once;") == 1
    assert broken_promises(garden) == []


def test_while_the_database_is_away_nothing_is_written(
    own_server: EmbeddedPostgres, own_garden: Garden
) -> None:
    before = text_of(own_garden, PROFILE)
    own_server.stop()
    assert code_of(ada(own_garden).call(*ASKED)) == "unavailable"
    assert text_of(own_garden, PROFILE) == before
    own_server.ensure_running()
    assert "replayed" not in ok(ada(own_garden).call(*ASKED))["meta"]


def test_an_acknowledged_edit_survives_a_crash_of_the_server(
    own_server: EmbeddedPostgres, own_garden: Garden
) -> None:
    for number in range(2):
        asked = patching(PROFILE, "concerns v1", f"said {number};", idempotencyKey=str(number))
        answer = ok(ada(own_garden).call(*asked))
        own_server.stop(immediately=True)
        own_server.ensure_running()
        if number % 2:
            ok(ada(own_garden).call(*patching(PROFILE, "needs v1", f"after {number}")))
        again = ok(ada(own_garden).call(*asked))
        assert again["meta"]["replayed"]
        assert (again["result"], again["meta"]["eventId"]) == (answer["result"], answer["meta"]["eventId"])
        assert text_of(own_garden, PROFILE).count(f"said {number};") == 1
        assert broken_promises(own_garden) == []


def append_by_hand(file: Path) -> None:
    with file.open("a") as opened_file:
        opened_file.write("\nby hand;\n")


def replace_by_hand(file: Path) -> None:
    file.write_text(f"{file.read_text().replace('said once;', 'never;')}\nby hand;\n")


@pytest.mark.parametrize(
    "undo", [append_by_hand, replace_by_hand, Path.unlink], ids=lambda undo: undo.__name__
)
def test_an_acknowledged_edit_stays_committed_after_a_crash_of_the_server_and_an_outside_edit(
    own_server: EmbeddedPostgres, own_garden: Garden, undo: Callable[[Path], None]
) -> None:
    """The seal is on the disk before the answer; a file that a person has changed since can't show it."""
    with connection(own_server.ensure_running()) as administration:
        # Commits that don't wait for the disk must not reach it before the crash.
        administration.execute(b"alter system set wal_writer_delay = '10s'")
        administration.execute(b"select pg_reload_conf()")
    answer = ok(ada(own_garden).call(*ASKED))
    own_server.stop(immediately=True)
    undo(own_garden.home.path / PROFILE)
    own_server.ensure_running()
    list(reconcile(own_garden.services, ["ada"]))
    events = told(own_garden, PROFILE).events
    assert [(event.event_id, event.status) for event in events][1] == (
        UUID(answer["meta"]["eventId"]),
        "committed",
    )
    assert {event.status for event in events} == {"committed"}
    ok(ada(own_garden).call("md.restore", {"path": PROFILE, "version": 2, "rationale": "it was answered"}))
    assert text_of(own_garden, PROFILE).count("said once;") == 1
    assert broken_promises(own_garden) == []


def test_a_change_that_is_committed_and_that_the_disk_did_not_confirm_closes_its_document(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_for_names(_: int, *, replaced: bool) -> None:
        if replaced:
            raise SyncFailedError(replaced=True)

    plant(ada(garden), PROFILE)
    with monkeypatch.context() as failing_disk:
        failing_disk.setattr(prepared_file, "sync", fail_for_names)
        refused = ada(garden).call(*ASKED)
        assert "did not confirm" in refused["error"]["message"]
        assert told(garden, PROFILE).events[-1].status == "committed"
        for asked in (ASKED, patching(PROFILE, "needs v1", "of another")):
            assert code_of(ada(garden).call(*asked)) == "unavailable"
    inode = (garden.home.path / PROFILE).stat().st_ino
    assert ok(ada(garden).call(*ASKED))["meta"]["replayed"]
    assert (garden.home.path / PROFILE).stat().st_ino != inode
    assert [event.status for event in told(garden, PROFILE).events] == ["committed"] * 2
    assert broken_promises(garden) == []
