"""Every change of a document changes its passages: their events, and what a kill or an erasure leaves."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from garden.application import Garden
from garden.files.failpoints import Failpoint, watch_failpoints
from garden.files.paths import GardenPath
from garden.grammar.parser import parse
from garden.home.keys import KeysUnavailableError
from garden.recall.rebuilding import documents_behind, rebuild
from garden.session import Session
from garden.transfer.imports import import_file
from tests.support.gardens import (
    CRITIC,
    NOTES,
    edit_outside,
    ok,
    plant,
    refused,
)
from tests.support.planted import notes_text
from tests.support.recalled import ask, change, wrong_earlier_passages, wrong_passages

ELSEWHERE = "users/ada/parts/critic/notes.md"


class KilledError(BaseException):
    """Ends a writer without any clean-up of its own, as a kill would."""


@pytest.fixture
def operator(garden: Garden) -> Session:
    return garden.session("ada", "operator", role="maintainer")


@pytest.fixture
def sailing(garden: Garden, operator: Session) -> dict[str, UUID]:
    """Notes with two passages; returns the event of each."""
    plant(operator, NOTES)
    for text in ("Sails to Gotland.", "Fears the open sea."):
        ok(operator, "fs.append", path=NOTES, text=f"- {text}")
    return events_of_passages(garden, NOTES)


def events_of_passages(garden: Garden, path: str) -> dict[str, UUID]:
    """The event of each passage by its text."""
    return {each.row.text: each.event_id for each in garden.services.passages.live_rows("ada", path)}


def wrong(garden: Garden, *paths: str) -> list[str]:
    return [
        fault
        for path in paths
        for check in (wrong_passages, wrong_earlier_passages)
        for fault in check(garden, path)
    ]


def die_at(point: Failpoint) -> Callable[[Failpoint], None]:
    def die(reached: Failpoint) -> None:
        if reached is point:
            raise KilledError

    return die


def test_only_a_passage_that_changes_gets_another_event(
    garden: Garden, operator: Session, sailing: dict[str, UUID]
) -> None:
    edit_outside(garden, NOTES, "Fears the open sea.", "Loves the open sea.")
    done = ok(operator, "fs.append", path=NOTES, text="- Bought a boat.")
    now = events_of_passages(garden, NOTES)
    assert now["Sails to Gotland."] == sailing["Sails to Gotland."]
    assert now["Loves the open sea."] == UUID(done["meta"]["adoptedEventId"])
    assert now["Bought a boat."] == UUID(done["meta"]["eventId"])
    assert "Fears the open sea." not in now
    assert wrong(garden, NOTES) == []


@pytest.mark.parametrize("settled_first", [NOTES, ELSEWHERE])
@pytest.mark.parametrize("point", [None, Failpoint.WRITTEN, Failpoint.HALF_SEALED])
def test_a_move_takes_the_passages_with_their_events(
    garden: Garden,
    operator: Session,
    sailing: dict[str, UUID],
    point: Failpoint | None,
    settled_first: str,
) -> None:
    move = {"path": NOTES, "newPath": ELSEWHERE}
    if point is None:
        ok(operator, "fs.move", **move)
    else:
        with watch_failpoints(die_at(point)), pytest.raises(KilledError):
            operator.call("fs.move", move)
        for path in (settled_first, NOTES, ELSEWHERE):
            garden.services.write_path.settle_and_adopt(operator.caller, GardenPath(path))
    assert events_of_passages(garden, ELSEWHERE).items() >= sailing.items()
    assert events_of_passages(garden, NOTES) == {}
    assert wrong(garden, NOTES, ELSEWHERE) == []


def test_a_failed_change_leaves_the_passages(
    garden: Garden, operator: Session, sailing: dict[str, UUID]
) -> None:
    append = {"path": NOTES, "text": "- Never written."}
    with watch_failpoints(die_at(Failpoint.BEGUN)), pytest.raises(KilledError):
        operator.call("fs.append", append)
    garden.services.write_path.settle_and_adopt(operator.caller, GardenPath(NOTES))
    refused(operator, "fs.append", "precondition_failed", **append, ifMatch="none")
    assert events_of_passages(garden, NOTES) == sailing
    assert wrong(garden, NOTES) == []


def test_a_text_whose_passages_can_not_be_read_is_written_all_the_same(
    garden: Garden, operator: Session, sailing: dict[str, UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    plant(operator, ELSEWHERE)
    with monkeypatch.context() as patched:
        patched.setattr("garden.writing.indexing.changes_between", fail)
        ok(operator, "fs.append", path=NOTES, text="- Bought a boat.")
        with watch_failpoints(die_at(Failpoint.WRITTEN)), pytest.raises(KilledError):
            operator.call("fs.append", {"path": NOTES, "text": "- Sold it."})
        edit_outside(garden, NOTES, "Fears the open sea.", "Loves the open sea.")
        garden.services.write_path.settle_and_adopt(operator.caller, GardenPath(NOTES))
        ok(operator, "fs.move", path=ELSEWHERE, newPath="users/ada/parts/poet/notes.md")
        assert rebuild(garden.services, GardenPath(NOTES)).problem
    ok(operator, "fs.append", path=NOTES, text="- Rows on the lake.")
    assert {*events_of_passages(garden, NOTES)} == {*sailing, "Rows on the lake."}
    for path in (behind := documents_behind(garden.services)):
        assert rebuild(garden.services, path).problem == ""
    assert GardenPath(NOTES) in behind
    assert documents_behind(garden.services) == []
    assert wrong(garden, NOTES) == []
    assert {"Loves the open sea.", "Bought a boat.", "Sold it."} < events_of_passages(garden, NOTES).keys()


def test_keys_that_can_not_be_read_stop_a_change_before_its_passages(garden: Garden) -> None:
    indexing = garden.services.write_path.indexing
    garden.home.keys_file.unlink()
    with pytest.raises(KeysUnavailableError):
        indexing.encoded_changes(GardenPath(NOTES), None, parse(notes_text(1)), 1, datetime.now(UTC))


def test_an_imported_document_has_its_passages(garden: Garden, tmp_path: Path) -> None:
    file = tmp_path / "ada/notes.md"
    file.parent.mkdir()
    file.write_text(notes_text(1))
    assert import_file(garden.services, tmp_path, file, "operator").outcome == "imported"
    assert wrong(garden, NOTES) == []
    assert list(events_of_passages(garden, NOTES)) == ["first of 0"]


def test_an_erasure_takes_the_rows_of_earlier_texts_and_keeps_those_that_stand(
    garden: Garden, operator: Session, sailing: dict[str, UUID]
) -> None:
    given = "insert into garden.recall_given values ('ada', gen_random_uuid(), 'agent', now(), array[%s])"
    for path in (NOTES, CRITIC):
        change(garden, given, f"{path}#a/b")
    edit_outside(garden, NOTES, "Fears the open sea.", "Loves the open sea.")
    change(garden, "update garden.recall_passages set vector = 'v', embedder = 'model'")
    generation = ask(garden, "select generation from garden.recall_documents")
    ok(operator, "garden.erase", text="the open sea", reason="Told in confidence.")
    assert events_of_passages(garden, NOTES)["Sails to Gotland."] == sailing["Sails to Gotland."]
    assert list(wrong_passages(garden, NOTES)) == []
    kept = "select text from garden.recall_passages where until is not null or vector is not null"
    assert ask(garden, kept) == []
    assert ask(garden, "select generation from garden.recall_documents") != generation
    assert ask(garden, "select passages from garden.recall_given") == [([f"{CRITIC}#a/b"],)]


@pytest.mark.usefixtures("sailing")
def test_an_erasure_takes_all_rows_of_a_document_whose_rows_are_behind(
    garden: Garden, operator: Session
) -> None:
    change(garden, "update garden.recall_documents set version = 1")
    ok(operator, "garden.erase", text="the open sea", reason="Told in confidence.")
    assert ask(garden, "select version from garden.recall_documents") == [(0,)]
    assert ask(garden, "select from garden.recall_passages") == []


@pytest.mark.usefixtures("sailing")
def test_an_erased_document_has_no_rows_and_an_erased_user_nothing_that_recall_keeps(
    garden: Garden, operator: Session
) -> None:
    change(garden, "insert into garden.recall_usage values ('ada', now(), 'memory.recall', 1, 0, 1)")
    plant(garden.session("ben"), "users/ben/overview.md")
    ok(operator, "fs.move", path=NOTES, newPath=ELSEWHERE)
    ok(operator, "garden.erase", path=ELSEWHERE, reason="She asked for it.")
    assert ask(garden, "select from garden.recall_passages where user_id = 'ada'") == []
    assert list(wrong_passages(garden, ELSEWHERE)) == []
    ok(operator, "garden.erase", everything=True, reason="She asked for it.")
    garden.services.usage.count("ada", "memory.recall", 0, is_empty=False)
    garden.services.usage.note_given("ada", "agent", [f"{NOTES}#a/b"])
    garden.services.usage.flush()
    for table in ("passages", "documents", "usage", "given"):
        assert ask(garden, f"select from garden.recall_{table} where user_id = 'ada'") == []
    assert [*garden.services.passages.unindexed(None, 1)] == []
    assert len(ask(garden, "select from garden.recall_documents where user_id = 'ben'")) == 1
