"""Rows made again from the events are those that the writers made."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import cast

import pytest

from garden.application import Garden
from garden.events.passages import PassageStore
from garden.events.store import EventStore
from garden.events.stream import LockedStream
from garden.files.paths import GardenPath
from garden.home.settings import Upkeep
from garden.recall.history import History
from garden.recall.rebuilding import documents_behind, rebuild, recalled_documents
from garden.recall.verification import verify
from garden.session import Session
from garden.upkeep.tasks import jobs, run_job
from tests.recall.rows import change_rows, stored_rows
from tests.support.gardens import CRITIC, NOTES, edit_outside, file_of, ok, plant
from tests.support.planted import ada
from tests.support.stalled import leave_open

PART_NOTES = "users/ada/parts/critic/notes.md"
CHILD_NOTES = "users/ada/parts/child/notes.md"


def rebuild_all(garden: Garden) -> None:
    for path in recalled_documents(garden.services, "ada"):
        assert rebuild(garden.services, path).problem == ""


def faults(garden: Garden) -> list[str]:
    paths = recalled_documents(garden.services, "ada")
    return [f"{path}: {fault}" for path in paths if (fault := verify(garden.services, path).problem)]


def write(session: Session, path: str, *lines: str) -> None:
    for line in lines:
        ok(session, "fs.append", path=path, text=f"- {line}")


def live_years(garden: Garden) -> Session:
    """A garden with edits by tools and by hand, lines that went, a move and an interrupted change."""
    session = ada(garden)
    plant(session, NOTES, CRITIC, PART_NOTES)
    write(session, NOTES, "slept well", "slept badly", "walked to the quay")
    edit_outside(garden, NOTES, "- slept badly\n", "")
    write(session, PART_NOTES, "wants to be right", "2026-03-01: was right")
    change = {"path": CRITIC, "sectionAnchor": "concerns v1", "change": {"append": "- the quay at night"}}
    ok(session, "md.patch_section", **change)
    leave_open(garden, NOTES, "- half written", written=True)
    write(session, NOTES, "slept badly")
    for old, new in (("Inbox", "Oslo"), ("Oslo", "Narvik")):
        edit_outside(garden, NOTES, f"## {old}", f"## {new}")
        write(session, NOTES, f"was in {new}")
    ok(session, "fs.move", path=PART_NOTES, newPath=CHILD_NOTES)
    write(session, CHILD_NOTES, "was wrong")
    ok(session, "md.restore", path=NOTES, version=3)
    return session


def test_deleted_rows_come_back_with_their_events_and_their_times(garden: Garden) -> None:
    live_years(garden)
    before = stored_rows(garden)
    assert any(row[3] for row in before)
    change_rows(garden)
    rebuild_all(garden)
    moved_away = [row for row in before if row[4] != PART_NOTES]
    assert [row for row in stored_rows(garden) if row[4] != PART_NOTES] == moved_away
    # A path that was left ends its rows by its own event, and not by that of the new path.
    assert {row[:3] for row in stored_rows(garden)} == {row[:3] for row in before}
    assert faults(garden) == []


def test_a_document_moved_there_and_back_keeps_the_events_of_its_words(garden: Garden) -> None:
    session = ada(garden)
    plant(session, PART_NOTES)
    write(session, PART_NOTES, "wants to be right")
    for _ in range(3):
        ok(session, "fs.move", path=PART_NOTES, newPath=CHILD_NOTES)
        write(session, CHILD_NOTES, "one more")
        ok(session, "fs.move", path=CHILD_NOTES, newPath=PART_NOTES)
    before = {row[:3] + row[10:12] for row in stored_rows(garden)}
    change_rows(garden)
    rebuild_all(garden)
    assert {row[:3] + row[10:12] for row in stored_rows(garden)} == before


def test_a_killed_rebuild_goes_on_with_the_documents_that_are_left(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    live_years(garden)
    change_rows(garden)
    behind = documents_behind(garden.services, "ada")
    assert len(behind) == 3
    replace, done = PassageStore.replace_document, list[str]()

    def replace_once(store: PassageStore, user_id: str, path: str, *rest: object) -> None:
        if done:
            raise KeyboardInterrupt
        done.append(path)
        replace(store, user_id, path, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(PassageStore, "replace_document", replace_once)
        with pytest.raises(KeyboardInterrupt):
            rebuild_all(garden)
    assert [path.text for path in documents_behind(garden.services, "ada")] == [
        path.text for path in behind if path.text not in done
    ]
    rebuild_all(garden)
    assert (documents_behind(garden.services, "ada"), faults(garden)) == ([], [])


def test_a_home_from_before_recall_heals_by_itself(garden: Garden) -> None:
    session = live_years(garden)
    before = stored_rows(garden)
    change_rows(garden)
    # A program that knows of recall writes before the rows are there; that alone does not make them whole.
    write(session, NOTES, "slept long")
    assert len(documents_behind(garden.services)) == 3
    index = jobs(Upkeep())["index"]
    assert run_job(index, garden.services) == {"indexed": 3}
    assert run_job(index, garden.services) == {}
    assert faults(garden) == []
    assert {row[1] for row in before if row[3] is None} < {row[1] for row in stored_rows(garden)}


def test_a_refused_document_rests_until_it_is_written_again(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada(garden), NOTES)
    change_rows(garden)
    index = jobs(Upkeep())["index"]
    with monkeypatch.context() as patched:
        patched.setattr(History, "follow", lambda *_: None)
        assert [run_job(index, garden.services) for _ in range(2)] == [{"refused": 1}, {}]
    write(ada(garden), NOTES, "slept long")
    assert run_job(index, garden.services) == {"indexed": 1}


def test_what_is_written_during_rebuilds_is_not_lost(garden: Garden) -> None:
    plant(ada(garden), NOTES, PART_NOTES)

    def write_much(path: str) -> None:
        for number in range(15):
            write(ada(garden), path, f"line {number} of {path}")

    with ThreadPoolExecutor(3) as pool:
        writing = [pool.submit(write_much, path) for path in (NOTES, PART_NOTES)]
        while not all(each.done() for each in writing):
            rebuild_all(garden)
        for each in writing:
            each.result()
    before = stored_rows(garden)
    assert faults(garden) == []
    rebuild_all(garden)
    assert stored_rows(garden) == before


def test_erased_words_do_not_come_back_from_any_time(garden: Garden) -> None:
    session = ada(garden)
    plant(session, NOTES)
    write(session, NOTES, "slept well", "the key is under the third stone", "slept badly")
    for old, new in (("Inbox", "The third stone again"), ("The third stone again", "Inbox")):
        edit_outside(garden, NOTES, f"## {old}", f"## {new}")
        write(session, NOTES, f"walked to {new[-5:]}")
    for words in ("the key is under the third stone", "the third stone again"):
        ok(session, "garden.erase", text=words, reason="Told in confidence.")
    edit_outside(garden, NOTES, "- slept badly\n", "")
    write(session, NOTES, "walked")
    change_rows(garden)
    rebuild_all(garden)
    texts = [row[16] for row in stored_rows(garden)]
    assert {row[7] for row in stored_rows(garden)} == {"Inbox"}
    assert "slept well" in texts
    assert not any("stone" in text or "xxx" in text or "aaa" in text for text in texts)
    assert faults(garden) == []


class StoreOfErasers:
    """Locks that are given after something else was done."""

    def __init__(self, store: EventStore, act: Callable[[], object]) -> None:
        self._store = store
        self._act = act

    @contextmanager
    def document(self, *words: object) -> Iterator[LockedStream]:
        self._act()
        with self._store.document(*words) as stream:  # type: ignore[arg-type]
            yield stream


def test_words_erased_after_the_events_were_read_stay_erased(garden: Garden) -> None:
    session = ada(garden)
    plant(session, NOTES)
    write(session, NOTES, "the key is under the third stone", "slept well")

    def erase() -> None:
        ok(session, "garden.erase", text="the key is under the third stone", reason="Told in confidence.")

    store = cast("EventStore", StoreOfErasers(garden.services.store, erase))
    assert rebuild(garden.services, GardenPath(NOTES), store).problem == "Words are being erased."
    assert not any("stone" in row[16] for row in stored_rows(garden))
    assert faults(garden) == []


def test_a_document_whose_events_do_not_lead_to_its_head_keeps_its_rows(garden: Garden) -> None:
    plant(ada(garden), NOTES)
    write(ada(garden), NOTES, "slept well")
    before = stored_rows(garden)
    change_rows(garden, b"update garden.documents set version = version + 1")
    done = rebuild(garden.services, GardenPath(NOTES))
    assert done.problem == "Its events do not lead to its head."
    assert stored_rows(garden) == before


def test_rows_are_compared_with_the_head_of_a_file_that_was_edited_outside(garden: Garden) -> None:
    live_years(garden)
    with file_of(garden, NOTES).open("a") as file:
        file.write("\n- by hand\n")
    assert faults(garden) == []
