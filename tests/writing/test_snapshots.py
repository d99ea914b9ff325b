import re

import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.gardens import (
    CRITIC,
    NOTES,
    OVERVIEW,
    edit_outside,
    events_of,
    file_of,
    ok,
    plant,
    refused,
    result,
    rows,
)


def _copies(session: Session, path: str) -> list[str]:
    folder = "history/" + path.removeprefix("users/").removesuffix(".md")
    envelope = session.call("fs.list", {"path": folder})
    return envelope["result"] if envelope["ok"] else []


def _patched(session: Session, path: str, anchor: str, text: str) -> str:
    change = {"replace": text}
    event_id = ok(session, "md.patch_section", path=path, sectionAnchor=anchor, change=change)["meta"][
        "eventId"
    ]
    assert isinstance(event_id, str)
    return event_id


@pytest.mark.parametrize("path", [CRITIC, OVERVIEW])
def test_a_material_edit_keeps_the_version_it_replaced(ada: Session, path: str) -> None:
    plant(ada, path)
    first = result(ada, "fs.read", path=path)
    event_id = _patched(ada, path, "summary v1", "One.")
    second = result(ada, "fs.read", path=path)
    _patched(ada, path, "summary v1", "Two.")
    copies = _copies(ada, path)
    assert [result(ada, "fs.read", path=copy) for copy in copies] == [first, second]
    folder = re.escape(path.replace("users/", "history/").removesuffix(".md"))
    assert re.fullmatch(rf"{folder}/\d{{4}}-\d\d-\d\dT\d{{6}}\.\d{{6}}Z-{event_id}\.md", copies[0])


def test_notes_keep_a_copy_only_of_what_an_edit_took_away(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="one")
    ok(ada, "md.patch_section", path=NOTES, sectionAnchor="inbox v1", change={"append": "two"})
    assert _copies(ada, NOTES) == []
    _patched(ada, NOTES, "inbox v1", "three")
    assert len(_copies(ada, NOTES)) == 1


def test_a_document_has_one_link_after_an_edit(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    _patched(ada, CRITIC, "needs v1", "- Rest")
    assert file_of(garden, CRITIC).stat().st_nlink == 1
    (copy,) = _copies(ada, CRITIC)
    before = result(ada, "fs.read", path=copy)
    edit_outside(garden, CRITIC, "- Rest", "- Play")
    assert result(ada, "fs.read", path=copy) == before
    _patched(ada, CRITIC, "needs v1", "- Both")


def test_a_snapshot_is_a_copy_of_the_current_version(ada: Session) -> None:
    plant(ada, NOTES)
    answer = result(ada, "md.snapshot_history", path=NOTES)
    assert set(answer) == {"historyPath"}
    assert result(ada, "fs.read", path=answer["historyPath"]) == result(ada, "fs.read", path=NOTES)
    assert rows(ada)[0]["op"] == "snapshot_history"


def test_many_snapshots_of_one_version_make_one_copy(ada: Session) -> None:
    plant(ada, NOTES)
    first = ok(ada, "md.snapshot_history", path=NOTES)
    again = ok(ada, "md.snapshot_history", path=NOTES)
    assert again["result"] == first["result"]
    assert again["meta"]["unchanged"]
    ok(ada, "fs.append", path=NOTES, text="more")
    assert result(ada, "md.snapshot_history", path=NOTES) != first["result"]
    assert len(_copies(ada, NOTES)) == 2


def test_a_snapshot_under_a_key_is_answered_again(ada: Session) -> None:
    plant(ada, NOTES)
    first = ok(ada, "md.snapshot_history", path=NOTES, idempotencyKey="k")
    ok(ada, "fs.append", path=NOTES, text="more")
    again = ok(ada, "md.snapshot_history", path=NOTES, idempotencyKey="k")
    assert again["meta"]["replayed"]
    assert again["result"] == first["result"]
    refused(ada, "md.snapshot_history", "idempotency_conflict", path=NOTES, rationale="b", idempotencyKey="k")


def test_a_snapshot_of_nothing_is_refused(ada: Session) -> None:
    refused(ada, "md.snapshot_history", "not_found", path=NOTES)


def test_a_snapshot_takes_if_match(ada: Session) -> None:
    plant(ada, NOTES)
    known = result(ada, "fs.hash", path=NOTES)
    ok(ada, "md.snapshot_history", path=NOTES, ifMatch=known)
    ok(ada, "fs.append", path=NOTES, text="more")
    refused(ada, "md.snapshot_history", "precondition_failed", path=NOTES, ifMatch=known)


def test_a_dry_run_of_a_snapshot_copies_nothing(ada: Session) -> None:
    plant(ada, NOTES)
    assert ok(ada, "md.snapshot_history", path=NOTES, dryRun=True)["meta"]["dryRun"]
    assert _copies(ada, NOTES) == []
    assert events_of(ada, NOTES) == ["plant committed"]


def test_a_snapshot_adopts_an_outside_edit(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    edit_outside(garden, NOTES, "# Notes", "# Mine")
    copy = result(ada, "md.snapshot_history", path=NOTES)["historyPath"]
    assert "# Mine" in result(ada, "fs.read", path=copy)
    assert events_of(ada, NOTES) == [
        "plant committed", "external_edit committed", "snapshot_history committed"
    ]  # fmt: skip


@pytest.mark.parametrize("is_removed", [True, False])
def test_a_copy_that_a_person_changed_or_removed_is_made_again(
    garden: Garden, ada: Session, is_removed: bool
) -> None:
    plant(ada, NOTES)
    first = file_of(garden, result(ada, "md.snapshot_history", path=NOTES)["historyPath"])
    if is_removed:
        first.unlink()
    else:
        first.write_text("mine\n")
    again = file_of(garden, result(ada, "md.snapshot_history", path=NOTES)["historyPath"])
    assert again != first
    assert again.read_bytes() == file_of(garden, NOTES).read_bytes()
