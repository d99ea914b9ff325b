"""`events.log` tells the truth: it speaks of recorded edits, and a claim that none bears out is refused."""

from typing import Any

import pytest

from garden.application import Garden
from garden.events.reader import WriteClaim
from garden.session import Session
from garden.writing.log_amendments import amend_change_log
from tests.support.gardens import CRITIC, NOTES, edit_outside, events_of, ok, plant, refused, result, rows

UPDATE = {"type": "profile_update", "op": "replace_section", "filePath": CRITIC}
NEEDS = {"path": CRITIC, "sectionAnchor": "needs v1"}
OTHER_HASH = "sha256:" + "0" * 64


def _log_lines(session: Session) -> list[str]:
    text = str(result(session, "fs.read", path=CRITIC)).partition("## Change Log")[2]
    return [line for line in text.splitlines() if line.startswith("- ")]


@pytest.fixture
def edited(ada: Session) -> dict[str, Any]:
    """The answer to an edit of a section, without a reason."""
    plant(ada, CRITIC)
    return ok(ada, "md.patch_section", **NEEDS, change={"replace": "- Rest"}, toolCallId="call-1")


@pytest.mark.parametrize("name", ["toolCallId", "transactionId", "agentActionId"])
def test_the_ids_of_an_edit_name_it(ada: Session, name: str) -> None:
    plant(ada, CRITIC)
    written = ok(ada, "md.patch_section", **NEEDS, change={"replace": "- Rest"}, **{name: "id-1"})
    ok(ada, "md.patch_section", **NEEDS, change={"append": "- Play"})
    logged = ok(ada, "events.log", **UPDATE, rationale="Why.", evidenceRefs=["ev:s1-m1"], **{name: "id-1"})
    assert logged["result"] == {"eventId": written["meta"]["eventId"]}
    assert logged["meta"]["annotated"]
    (event,) = rows(ada, eventId=written["meta"]["eventId"])
    (note,) = event["annotations"]
    assert set(note) == {
        "type", "op", "rationale", "overrideRationale", "evidenceRefs", "details", "actor", "createdAt",
    }  # fmt: skip
    assert (note["rationale"], note["evidenceRefs"], note["actor"]) == ("Why.", ["ev:s1-m1"], "companion")


@pytest.mark.parametrize("of_document", [False, True], ids=["of the section", "of the document"])
def test_file_section_and_hashes_name_an_edit(
    ada: Session, edited: dict[str, Any], of_document: bool
) -> None:
    (event,) = rows(ada, **NEEDS)
    after = event["afterHash"] if of_document else edited["result"]["afterHash"]
    before = event["beforeHash"] if of_document else edited["result"]["beforeHash"]
    ok(ada, "md.patch_section", **NEEDS, change={"append": "- Play"})
    logged = result(
        ada, "events.log", type="profile_update", op="replace_section", section_anchor="Needs",
        rationale="She said so.", before_hash=before, after_hash=after, file_path=CRITIC,
    )  # fmt: skip
    assert logged["eventId"] == event["eventId"]


def test_without_ids_and_hashes_it_is_the_actors_newest_such_edit(
    garden: Garden, ada: Session, edited: dict[str, Any]
) -> None:
    about = {**UPDATE, "sectionAnchor": "needs", "rationale": "She said so."}
    assert result(ada, "events.log", **about)["eventId"] == edited["meta"]["eventId"]
    refused(garden.session("ada", "other"), "events.log", "invalid_input", **about)


@pytest.mark.usefixtures("edited")
@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ({"afterHash": OTHER_HASH}, "invalid_input"),
        ({"beforeHash": OTHER_HASH}, "invalid_input"),
        ({"afterHash": OTHER_HASH, "toolCallId": "call-1"}, "invalid_input"),
        ({"sectionAnchor": "concerns v1"}, "invalid_input"),
        ({"sectionAnchor": "dreams v1"}, "anchor_not_found"),
        ({"op": "prune_item"}, "invalid_input"),
        ({"type": "observation", "op": "prune_item"}, "invalid_input"),
        ({"type": "observation", "op": "note", "afterHash": OTHER_HASH}, "invalid_input"),
        ({"type": "observation", "op": "note", "sectionAnchor": "dreams v1"}, "anchor_not_found"),
        ({"type": "notes_update", "filePath": NOTES}, "not_found"),
        ({"type": "observation", "op": "note", "filePath": NOTES}, "not_found"),
        ({"filePath": None}, "invalid_input"),
    ],
)
def test_a_claim_that_no_event_bears_out_is_refused_and_not_recorded(
    ada: Session, claim: dict[str, Any], code: str
) -> None:
    before = rows(ada)
    args = {name: value for name, value in {**UPDATE, **claim}.items() if value is not None}
    refused(ada, "events.log", code, **args, rationale="It happened.")
    assert rows(ada) == before


def test_the_hash_of_another_section_does_not_bear_a_claim_out(ada: Session, edited: dict[str, Any]) -> None:
    after = edited["result"]["afterHash"]
    refused(ada, "events.log", "invalid_input", **UPDATE, sectionAnchor="concerns v1", afterHash=after)


@pytest.mark.usefixtures("edited")
def test_a_plain_observation_about_a_document_is_an_event_of_its_own(ada: Session) -> None:
    about = {"type": "observation", "filePath": CRITIC, "sectionAnchor": "Open questions", "rationale": "So."}
    ok(ada, "events.log", **about)
    newest = rows(ada)[0]
    assert (newest["op"], newest["sectionAnchor"], newest["path"]) == ("note", "questions v1", CRITIC)
    assert newest["lint"]["counts"] == {"cap": 0, "block": 0, "style": 0}


@pytest.mark.usefixtures("edited")
def test_a_later_reason_is_added_to_the_change_log_for_that_event(ada: Session) -> None:
    (without,) = _log_lines(ada)
    said = {"rationale": "She named it.", "overrideRationale": "Just once.", "toolCallId": "call-1"}
    logged = ok(ada, "events.log", **UPDATE, **said)
    added = without.replace("no rationale given", "She named it.") + " · override: Just once."
    assert _log_lines(ada) == [without, added]
    (amendment,) = rows(ada, op="append_log")
    assert amendment["eventId"] == logged["meta"]["changeLogEventId"]
    assert (amendment["tool"], amendment["sectionAnchor"]) == ("events.log", "change_log v1")
    assert logged["meta"]["documentHash"] == result(ada, "fs.hash", path=CRITIC)
    assert events_of(ada, CRITIC) == [
        "plant committed", "replace_section committed", "append_log committed",
    ]  # fmt: skip


def test_a_reason_that_the_line_has_is_not_added_again(ada: Session) -> None:
    plant(ada, CRITIC)
    ok(ada, "md.patch_section", **NEEDS, change={"replace": "- Rest"}, rationale="So.", toolCallId="call-1")
    for key, reason in enumerate(["So.", "Because.", "Because.", None]):
        said = {"rationale": reason} if reason else {}
        ok(ada, "events.log", **UPDATE, **said, toolCallId="call-1", idempotencyKey=str(key))
    assert len(_log_lines(ada)) == 2
    assert len(rows(ada, op="replace_section")[0]["annotations"]) == 4


@pytest.mark.usefixtures("edited")
def test_a_log_entry_cut_off_after_its_line_is_completed_by_the_next_attempt(
    garden: Garden, ada: Session
) -> None:
    event = garden.services.reader.find_write("ada", WriteClaim(path=CRITIC))
    assert event is not None
    amend_change_log(garden.services, ada.caller, event, "So.", None)
    lines = _log_lines(ada)
    logged = ok(ada, "events.log", **UPDATE, rationale="So.", toolCallId="call-1")
    assert "changeLogEventId" not in logged["meta"]
    assert _log_lines(ada) == lines
    assert len(rows(ada, eventId=str(event.event_id))[0]["annotations"]) == 1


@pytest.mark.usefixtures("edited")
def test_a_log_entry_sent_again_changes_nothing_even_if_another_edit_fits_now(ada: Session) -> None:
    about = {**UPDATE, "rationale": "So.", "idempotencyKey": "once"}
    first = ok(ada, "events.log", **about)
    ok(ada, "md.patch_section", **NEEDS, change={"replace": "- Play"})
    lines = _log_lines(ada)
    again = ok(ada, "events.log", **about)
    assert again["meta"]["replayed"]
    assert again["result"] == first["result"]
    assert _log_lines(ada) == lines


@pytest.mark.usefixtures("edited")
def test_a_document_that_no_tool_edits_is_annotated_with_a_warning(garden: Garden, ada: Session) -> None:
    edit_outside(garden, CRITIC, "<!-- @anchor: needs v1 -->\n", "")
    logged = ok(ada, "events.log", **UPDATE, rationale="So.", toolCallId="call-1")
    assert logged["meta"]["annotated"]
    assert any("Change Log" in warning for warning in logged["meta"]["warnings"])
