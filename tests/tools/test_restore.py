"""`md.restore`: an earlier version comes back as a new one, wherever the document stands meanwhile."""

import errno
import os
from datetime import timedelta
from typing import Any

import pytest

from garden.application import Garden
from garden.files import history_copies
from garden.files.paths import GardenPath
from garden.session import Session
from garden.upkeep.reconciliation import adopt
from garden.upkeep.status import status_of_user
from garden.writing.versions import versions_of
from tests.support.gardens import (
    CRITIC,
    NOTES,
    edit_outside,
    events_of,
    file_of,
    ok,
    out_of_step,
    plant,
    refused,
    result,
    rows,
    without_names,
)

ANCHOR = "<!-- @anchor: needs v1 -->\n"
PATCH = {"path": CRITIC, "sectionAnchor": "needs v1", "change": {"append": "- Rest"}}


@pytest.fixture
def operator(garden: Garden) -> Session:
    """A maintainer in Ada's garden, with a profile in three versions, and notes in two."""
    session = garden.session("ada", "operator", role="maintainer")
    plant(session, CRITIC, NOTES)
    for words in ("- Says yes too soon", "- Says no too late"):
        change = {"replace": words}
        ok(session, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1", change=change)
    ok(session, "fs.append", path=NOTES, text="slept well")
    return session


def text(garden: Garden, path: str = CRITIC) -> str:
    return file_of(garden, path).read_bytes().decode()


def version(garden: Garden, number: int, path: str = CRITIC) -> str:
    return garden.services.reader.text_at("ada", path, number)


def above_the_log(words: str) -> str:
    return words[: words.index("## Change Log")]


def states(garden: Garden) -> set[str]:
    return {status.state.value for status in status_of_user(garden.services, "ada")}


def event_of(session: Session, number: int, path: str = CRITIC) -> dict[str, Any]:
    return next(row for row in rows(session, path=path) if row["documentVersion"] == number)


def test_a_version_comes_back_by_its_number_as_a_new_one(garden: Garden, operator: Session) -> None:
    envelope = ok(operator, "md.restore", path=CRITIC, version=2, rationale="The first words were better.")
    assert envelope["result"] == {"newHash": result(operator, "fs.hash", path=CRITIC), "fromVersion": 2}
    assert above_the_log(text(garden)) == above_the_log(version(garden, 2))
    newest = rows(operator, path=CRITIC)[0]
    assert (newest["op"], newest["documentVersion"], newest["edit"]["fromVersion"]) == ("restore", 4, 2)
    assert newest["edit"]["asked"] == {"version": 2}
    assert events_of(operator, CRITIC)[-1] == "restore committed"


def test_the_change_log_keeps_newer_lines_and_gains_the_restoration(
    garden: Garden, operator: Session
) -> None:
    before = text(garden)
    ok(operator, "md.restore", path=CRITIC, version=1)
    log = without_names(text(garden)).partition("## Change Log")[2]
    assert log.startswith(without_names(before).partition("## Change Log")[2].rstrip())
    assert "document · restore · Put version 1 back. (evt:-)" in log
    assert log.count("replace_section") == 2


def test_notes_come_back_to_the_byte(garden: Garden, operator: Session) -> None:
    ok(operator, "fs.append", path=NOTES, text="woke")
    ok(operator, "md.restore", path=NOTES, version=2)
    assert text(garden, NOTES) == version(garden, 2, NOTES)
    assert version(garden, 4, NOTES) == version(garden, 2, NOTES)


def test_the_version_is_found_by_a_time_or_by_an_event(garden: Garden, operator: Session) -> None:
    second = next(
        each for each in versions_of(garden.services.reader, GardenPath(CRITIC)) if each.document_version == 2
    )
    ok(operator, "md.restore", path=CRITIC, at=second.created_at.isoformat())
    assert "too soon" in text(garden)
    ok(operator, "md.restore", path=CRITIC, event=event_of(operator, 3)["eventId"])
    assert "too late" in text(garden)
    ok(operator, "md.restore", path=CRITIC, event=str(second.event_id)[-8:])
    assert "too soon" in text(garden)
    early = (second.created_at - timedelta(days=1)).isoformat()
    assert (
        refused(operator, "md.restore", "not_found", path=CRITIC, at=early)["hint"] == "Choose a later time."
    )


def test_a_restoration_to_the_current_text_changes_nothing(operator: Session) -> None:
    assert ok(operator, "md.restore", path=CRITIC, version=3)["meta"]["unchanged"] is True
    ok(operator, "md.restore", path=CRITIC, version=1)
    assert ok(operator, "md.restore", path=CRITIC, version=1, idempotencyKey="2")["meta"]["unchanged"] is True
    assert len(events_of(operator, CRITIC)) == 4


def test_a_document_that_was_emptied_and_then_deleted_by_hand_is_missing(
    garden: Garden, operator: Session
) -> None:
    file_of(garden, NOTES).write_text("")
    list(adopt(garden.services, "ada"))
    file_of(garden, NOTES).unlink()
    assert states(garden) == {"in step", "missing"}
    ok(operator, "md.restore", path=NOTES, version=2)
    assert "slept well" in text(garden, NOTES)


def test_a_missing_file_is_made_anew(garden: Garden, operator: Session) -> None:
    before = text(garden)
    file_of(garden, CRITIC).unlink()
    assert states(garden) == {"in step", "missing"}
    planned = ok(operator, "md.restore", path=CRITIC, version=3, dryRun=True)
    assert planned["meta"]["unchanged"] is False
    assert not file_of(garden, CRITIC).exists()
    envelope = ok(operator, "md.restore", path=CRITIC, version=3)
    assert text(garden) == before
    assert envelope["meta"]["warnings"] == ["The file was missing; it is made anew."]
    assert events_of(operator, CRITIC)[-1] == "restore committed"
    newest = max((garden.home.path / "history/ada/parts/critic/profile").iterdir())
    assert newest.read_text() == before
    assert states(garden) == {"in step"}
    ok(operator, "md.patch_section", **PATCH)


def test_an_older_version_of_a_missing_file_goes_on_with_the_log_that_the_account_has(
    garden: Garden, operator: Session
) -> None:
    file_of(garden, CRITIC).unlink()
    ok(operator, "md.restore", path=CRITIC, version=1)
    assert above_the_log(text(garden)) == above_the_log(version(garden, 1))
    assert text(garden).count("replace_section") == 2
    assert states(garden) == {"in step"}


def test_a_document_whose_folder_is_gone_is_restored(garden: Garden, operator: Session) -> None:
    file_of(garden, CRITIC).unlink()
    file_of(garden, CRITIC).parent.rmdir()
    ok(operator, "md.restore", path=CRITIC, version=3)
    assert states(garden) == {"in step"}


def test_a_document_that_was_moved_away_can_be_made_anew_where_it_was(
    garden: Garden, operator: Session
) -> None:
    ok(operator, "fs.move", path=NOTES, newPath="users/ada/parts/critic/notes.md")
    ok(operator, "md.restore", path=NOTES, version=2)
    assert text(garden, NOTES) == version(garden, 2, NOTES)
    assert states(garden) == {"in step"}


def test_an_edit_from_outside_is_kept_in_the_account_before_another_version_takes_its_place(
    garden: Garden, operator: Session
) -> None:
    edit_outside(garden, CRITIC, "# Part", "# Words of hers")
    hers = text(garden)
    envelope = ok(operator, "md.restore", path=CRITIC, version=2)
    assert "adoptedEventId" in envelope["meta"]
    assert version(garden, 4) == hers
    assert "Words of hers" not in text(garden)
    assert states(garden) == {"in step"}


def test_a_damaged_document_is_whole_again_after_a_restoration(garden: Garden, operator: Session) -> None:
    edit_outside(garden, CRITIC, ANCHOR, "")
    refused(operator, "md.patch_section", "document_damaged", **PATCH)
    assert "'garden restore'" in refused(operator, "md.patch_section", "document_damaged", **PATCH)["hint"]
    ok(operator, "md.restore", path=CRITIC, version=3)
    assert states(garden) == {"in step"}
    ok(operator, "md.patch_section", **PATCH)


def test_malformed_frontmatter_is_replaced_by_a_restoration(garden: Garden, operator: Session) -> None:
    edit_outside(garden, CRITIC, "schema: 1\n", "schema: [1\n")
    ok(operator, "md.restore", path=CRITIC, version=3)
    ok(operator, "md.patch_section", **PATCH)


def test_an_emptied_file_comes_back(garden: Garden, operator: Session) -> None:
    file_of(garden, CRITIC).write_bytes(b"")
    ok(operator, "md.restore", path=CRITIC, version=3)
    assert above_the_log(text(garden)) == above_the_log(version(garden, 3))
    assert states(garden) == {"in step"}


def test_anchors_that_go_with_a_restoration_are_named(garden: Garden, operator: Session) -> None:
    edit_outside(
        garden,
        CRITIC,
        "## Change Log\n",
        "## Dreams\n<!-- @anchor: dreams v1 -->\n\n- flew\n\n## Change Log\n",
    )
    ok(operator, "md.patch_section", **PATCH)
    envelope = ok(operator, "md.restore", path=CRITIC, version=1)
    assert "The anchor 'dreams v1' is removed: that version did not have it." in envelope["meta"]["warnings"]
    ok(operator, "md.patch_section", **{**PATCH, "change": {"append": "- Rest again"}})


def test_a_damaged_version_is_refused_with_the_undamaged_ones(garden: Garden, operator: Session) -> None:
    edit_outside(garden, CRITIC, ANCHOR, "")
    ok(operator, "md.repair", path=CRITIC)
    error = refused(operator, "md.restore", "document_damaged", path=CRITIC, version=4)
    assert error["details"] == {"wholeVersions": [5, 3, 2, 1]}
    assert "5, 3, 2, 1" in error["hint"]
    assert events_of(operator, CRITIC)[-1] == "repair committed"


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"version": 1, "event": "abcdef"},
        {"version": 1, "at": "2026-11-18T08:25:00Z"},
        {"version": 0},
        {"version": "1"},
        {"version": True},
        {"version": 2**40},
        {"at": "tomorrow"},
        {"at": "2026-11-18T28:25:00"},
        {"event": ""},
    ],
)
def test_exactly_one_version_is_to_be_named(operator: Session, given: dict[str, Any]) -> None:
    refused(operator, "md.restore", "invalid_input", path=CRITIC, **given)


def test_there_must_be_such_a_version(operator: Session) -> None:
    refused(operator, "md.restore", "not_found", path=CRITIC, version=9)
    refused(operator, "md.restore", "not_found", path="users/ada/parts/nobody/profile.md", version=1)
    refused(operator, "md.restore", "not_found", path=CRITIC, event="ffffffffffff")
    refused(operator, "md.restore", "not_found", path=CRITIC, at="yesterday")
    refused(operator, "md.restore", "invalid_input", path=CRITIC, event="abc")
    of_another = event_of(operator, 1, NOTES)["eventId"]
    refused(operator, "md.restore", "invalid_input", path=CRITIC, event=of_another)


def test_an_event_that_only_says_something_left_no_version(operator: Session) -> None:
    ok(operator, "events.log", type="observation", rationale="x", filePath=CRITIC)
    said = rows(operator, path=CRITIC, type="observation")[0]["eventId"]
    refused(operator, "md.restore", "invalid_input", path=CRITIC, event=said)


@pytest.mark.parametrize("role", ["agent", "reviewer"])
def test_only_a_maintainer_may_restore(garden: Garden, operator: Session, role: str) -> None:
    other = garden.session("ada", "companion", role=role)
    refused(other, "md.restore", "permission_denied", path=CRITIC, version=1)
    refused(operator, "md.restore", "path_not_allowed", path="users/ben/notes.md", version=1)


def test_another_users_event_restores_nothing(garden: Garden, operator: Session) -> None:
    ben = garden.session("ben", "operator", role="maintainer")
    ok(ben, "md.plant", path="users/ben/notes.md")
    event = event_of(operator, 1, NOTES)["eventId"]
    refused(ben, "md.restore", "not_found", path="users/ben/notes.md", event=event)


def test_a_restoration_sent_again_is_replayed(garden: Garden, operator: Session) -> None:
    first = ok(operator, "md.restore", path=CRITIC, version=1, idempotencyKey="k")
    ok(operator, "md.patch_section", **PATCH)
    after = text(garden)
    again = ok(operator, "md.restore", path=CRITIC, version=1, idempotencyKey="k")
    assert (again["result"], again["meta"]["replayed"]) == (first["result"], True)
    assert text(garden) == after
    refused(operator, "md.restore", "idempotency_conflict", path=CRITIC, version=2, idempotencyKey="k")


def test_a_restoration_checks_if_match(operator: Session) -> None:
    known = result(operator, "fs.hash", path=CRITIC)
    ok(operator, "md.patch_section", **PATCH)
    refused(operator, "md.restore", "precondition_failed", path=CRITIC, version=1, ifMatch=known)


def test_a_binary_file_is_left_alone(garden: Garden, operator: Session) -> None:
    before = text(garden)
    file_of(garden, CRITIC).write_bytes(b"\xff\xfe")
    error = refused(operator, "md.restore", "not_text", path=CRITIC, version=1)
    assert error["hint"]
    assert file_of(garden, CRITIC).read_bytes() == b"\xff\xfe"
    file_of(garden, CRITIC).write_text(before)


def test_a_failed_history_copy_is_not_reported_as_unchanged(
    garden: Garden, operator: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = file_of(garden, CRITIC)
    before = file.read_bytes()
    file.unlink()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full_disk:
        full_disk.setattr(history_copies, "write_new", full)
        error = refused(operator, "md.restore", "unavailable", path=CRITIC, version=3, idempotencyKey="k")
    assert "stays closed" in error["message"]
    again = ok(operator, "md.restore", path=CRITIC, version=3, idempotencyKey="k")
    assert again["meta"]["replayed"]
    assert file.read_bytes() == before
    assert not out_of_step(garden)
