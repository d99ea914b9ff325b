"""`md.undo`: one event's change is taken back, wherever the document stands meanwhile."""

from typing import Any

import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, edit_outside, file_of, ok, plant, refused, rows
from tests.support.stalled import leave_open

MOVED = "users/ada/parts/child/notes.md"


@pytest.fixture
def operator(garden: Garden) -> Session:
    """A maintainer in Ada's garden, with two concerns that came one after the other, and a need."""
    session = garden.session("ada", "operator", role="maintainer")
    plant(session, CRITIC, NOTES)
    for anchor, item in (("concerns v1", "- Says yes"), ("concerns v1", "- Says no"), ("needs v1", "- Rest")):
        patch(session, anchor, append=item)
    return session


def patch(session: Session, anchor: str, **change: str) -> str:
    envelope = ok(session, "md.patch_section", path=CRITIC, sectionAnchor=anchor, change=change)
    return str(envelope["meta"]["eventId"])


def text(garden: Garden, path: str = CRITIC) -> str:
    return file_of(garden, path).read_bytes().decode()


def event_of(session: Session, number: int, path: str = CRITIC) -> str:
    row = next(row for row in rows(session, path=path) if row["documentVersion"] == number)
    return str(row["eventId"])


def undo(session: Session, number: int, **also: Any) -> dict[str, Any]:
    return ok(session, "md.undo", event=event_of(session, number), **also)


def test_an_item_is_taken_back_and_later_ones_stay(garden: Garden, operator: Session) -> None:
    before = text(garden)
    done = undo(operator, 2, rationale="She took it back.")
    kept, log = text(garden).split("## Change Log")
    assert kept == before.split("## Change Log")[0].replace("- Says yes\n", "")
    assert log.count(" · append_section · ") == 3
    assert f"· document · undo · She took it back. (evt:{done['meta']['eventId']})" in log
    row = rows(operator, path=CRITIC)[0]
    assert (row["op"], row["tool"], row["sections"]) == ("undo", "md.undo", ["concerns v1"])


def test_an_undo_can_be_undone_and_a_second_one_changes_nothing(garden: Garden, operator: Session) -> None:
    undo(operator, 3)
    assert undo(operator, 3)["meta"]["unchanged"]
    assert "- Says no\n" not in text(garden)
    undo(operator, 5)
    assert "- Says yes\n- Says no\n" in text(garden)
    undo(operator, 3)
    assert "- Says no\n" not in text(garden)


def test_a_change_that_is_undone_stays_so_when_others_take_its_place(
    garden: Garden, operator: Session
) -> None:
    undo(operator, 3)
    for number in range(3):
        patch(operator, "concerns v1", append=f"- Concern {number}")
    before = text(garden)
    assert undo(operator, 3)["meta"]["unchanged"]
    assert text(garden) == before


def test_a_conflict_names_the_words_and_the_events_that_changed_them(
    garden: Garden, operator: Session
) -> None:
    later = patch(operator, "concerns v1", replace="- Says yes too soon\n- Says no")
    patch(operator, "needs v1", append="- Sleep")
    before = text(garden)
    error = refused(operator, "md.undo", "patch_conflict", event=event_of(operator, 2), rationale="No.")
    [conflict] = error["details"]["conflicts"]
    assert (conflict["words"], conflict["now"]) == ("- Says yes", "- Says yes too soon")
    assert conflict["events"] == [later]
    assert (
        f"'- Says yes': replace_section by operator, {rows(operator)[1]['createdAt'][:10]}"
        in error["message"]
    )
    edit_outside(garden, CRITIC, "- Says yes too soon", "- Always says yes")
    error = refused(operator, "md.undo", "patch_conflict", event=event_of(operator, 2), dryRun=True)
    assert error["details"]["conflicts"][0]["by"][1] == "an outside edit that is not recorded yet"
    assert text(garden) == before.replace("Says yes too soon", "Always says yes")
    undo(operator, 3)
    assert "Always says yes\n\n" in text(garden)


def test_a_dry_run_shows_the_diff_and_changes_nothing(garden: Garden, operator: Session) -> None:
    before = text(garden)
    meta = undo(operator, 2, dryRun=True)["meta"]
    assert "\n-- Says yes\n" in meta["diff"]
    assert text(garden) == before


def test_an_event_of_a_moved_document_is_undone_where_that_is_now(garden: Garden, operator: Session) -> None:
    ok(operator, "fs.append", path=NOTES, text="slept well")
    moved = ok(operator, "fs.move", path=NOTES, newPath=MOVED)["meta"]["eventId"]
    ok(operator, "fs.append", path=MOVED, text="woke early")
    refused(operator, "md.undo", "invalid_input", event=event_of(operator, 2, NOTES), path=CRITIC)
    ok(operator, "md.undo", event=event_of(operator, 2, NOTES), path=MOVED)
    assert "slept well" not in text(garden, MOVED)
    assert "woke early" in text(garden, MOVED)
    error = refused(operator, "md.undo", "invalid_input", event=moved)
    assert f"garden mv {MOVED} {NOTES}" in error["hint"]


def test_events_that_no_edit_can_take_back_are_refused(garden: Garden, operator: Session) -> None:
    refused(operator, "md.undo", "delete_not_allowed", event=event_of(operator, 1))
    observed = ok(operator, "events.log", type="observation", rationale="She laughed.")["meta"]["eventId"]
    assert "changed no document" in refused(operator, "md.undo", "invalid_input", event=observed)["message"]
    logged = patch(operator, "change_log v1", append="- Seen by her therapist.")
    refused(operator, "md.undo", "permission_denied", event=logged)
    ok(operator, "garden.erase", text="Says no", reason="She asked.")
    refused(operator, "md.undo", "erased", event=event_of(operator, 3))
    refused(operator, "md.undo", "erased", event=event_of(operator, 6))
    leave_open(garden, NOTES, "More.")
    newest = rows(operator, path=NOTES)[0]["eventId"]
    refused(operator, "md.undo", "in_progress", event=newest)
    ok(operator, "fs.append", path=NOTES, text="settled")
    refused(operator, "md.undo", "invalid_input", event=newest)


def test_an_outside_edit_is_undone_like_any_other(garden: Garden, operator: Session) -> None:
    before = text(garden)
    edit_outside(garden, CRITIC, "- Rest\n", "")
    patch(operator, "concerns v1", append="- Says maybe")
    undo(operator, 5)
    assert "- Rest\n" in before
    assert "- Rest\n" in text(garden)
