import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic_core import to_jsonable_python

from garden.application import Garden, open_garden
from garden.events.reader import EventReader
from garden.events.rows import event_row
from garden.events.views import SpliceView
from garden.home.folder import Home
from garden.session import Session
from garden.tools.registry import REGISTRY
from tests.support.gardens import CRITIC, NOTES, edit_outside, ok, plant, refused, result, rows

SEEN = {"type": "observation", "rationale": "She laughed about the deadline."}
FIELDS = {
    "eventId", "type", "op", "tool", "status", "path", "entity", "sectionAnchor", "rationale",
    "overrideRationale", "evidenceRefs", "sections", "edit", "splices", "documentVersion", "beforeHash",
    "intendedHash", "afterHash", "lint", "error", "actor", "role", "toolCallId", "transactionId",
    "agentActionId", "idempotencyKey", "createdAt", "writtenAt", "committedAt", "failedAt", "sequence",
    "lineHash", "chainHash", "integritySaltVersion", "annotations", "erased",
}  # fmt: skip


def test_a_logged_event_is_committed_at_once_and_returns_its_id(ada: Session) -> None:
    answer = result(ada, "events.log", **SEEN, evidenceRefs=["ev:s1-m1"], details={"mood": "light"})
    assert set(answer) == {"eventId"}
    (event,) = rows(ada)
    told = {
        "eventId": answer["eventId"], "type": "observation", "op": "note", "status": "committed",
        "rationale": SEEN["rationale"], "evidenceRefs": ["ev:s1-m1"], "path": None, "splices": None,
        "edit": {"kind": "note", "details": {"mood": "light"}},
    }  # fmt: skip
    assert {key: event[key] for key in told} == told


def test_without_the_same_ids_or_the_same_file_it_is_an_event_of_its_own(ada: Session) -> None:
    plant(ada, CRITIC, NOTES)
    ok(ada, "fs.append", path=NOTES, text="a", toolCallId="id-1")
    ok(ada, "events.log", **SEEN, filePath=NOTES, toolCallId="id-2")
    ok(ada, "events.log", **SEEN, filePath=CRITIC, toolCallId="id-1")
    ok(ada, "events.log", **SEEN, toolCallId="id-1")
    assert [row["op"] for row in rows(ada)] == ["note", "note", "note", "append_file", "plant", "plant"]


def test_an_annotation_sent_twice_is_one(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="a", toolCallId="id-1")
    first = ok(ada, "events.log", **SEEN, filePath=NOTES, toolCallId="id-1")
    again = ok(ada, "events.log", **SEEN, filePath=NOTES, toolCallId="id-1")
    assert again["meta"]["replayed"]
    assert again["result"] == first["result"]
    assert len(rows(ada)[0]["annotations"]) == 1


def test_the_same_log_entry_is_recorded_once_unless_under_another_key(ada: Session) -> None:
    first = ok(ada, "events.log", **SEEN)
    again = ok(ada, "events.log", **SEEN)
    assert again["meta"]["replayed"]
    assert again["result"] == first["result"]
    ok(ada, "events.log", **SEEN, idempotencyKey="tuesday")
    assert len(rows(ada)) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "Not A Label"}, {"filePath": "users/ben/notes.md"}, {"beforeHash": "abc"}, {"details": "no"},
        {"details": {"a": "x" * 70_000}}, {"rationale": "a\x00b"}, {"rationale": "a" * 2001},
        {"evidenceRefs": "ev:s1"}, {"toolCallId": "a\nb"},
    ],
)  # fmt: skip
def test_an_invalid_log_entry_is_refused(ada: Session, wrong: dict[str, Any]) -> None:
    code = "path_not_allowed" if "filePath" in wrong else "invalid_input"
    refused(ada, "events.log", code, **{**SEEN, **wrong})
    assert rows(ada) == []


def test_an_event_has_every_field_and_the_newest_comes_first(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="a")
    found = rows(ada)
    assert [row["op"] for row in found] == ["append_file", "plant"]
    assert all(set(row) == FIELDS for row in found)
    assert found[0]["createdAt"] < found[0]["writtenAt"] < found[0]["committedAt"]
    assert set(result(ada, "events.query")) == {"rows"}


@pytest.fixture
def busy(garden: Garden, ada: Session) -> Session:
    """A garden in which all sorts of things have happened."""
    plant(ada, NOTES, CRITIC)
    ok(
        ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"replace": "- Rest"},
        rationale="Tired of the Deadline.", toolCallId="call-1", evidenceRefs=["ev:s1-m1"],
    )  # fmt: skip
    ok(ada, "fs.append", path=NOTES, text="a", transactionId="turn-1", agentActionId="act-1")
    about = {"filePath": NOTES, "transactionId": "turn-1", "evidenceRefs": ["ev:s1-m2"]}
    ok(ada, "events.log", type="observation", rationale="In the quarterly review.", **about)
    ok(garden.session("ada", "other"), "fs.append", path=NOTES, text="b")
    ok(ada, "events.log", type="decision", op="decide", rationale="No deadline on Fridays.")
    edit_outside(garden, NOTES, "# Notes", "# Mine")
    ok(ada, "fs.append", path=NOTES, text="c")
    return ada


def test_every_filter_narrows_the_search(busy: Session) -> None:
    everything = rows(busy)
    wanted: dict[str, tuple[dict[str, Any], int]] = {
        "path": ({"path": NOTES}, 5),
        "path by its other name": ({"file_path": NOTES}, 5),
        "anchor": ({"sectionAnchor": "needs v1"}, 1),
        "anchor without version": ({"section_anchor": "NEEDS"}, 1),
        "another version": ({"sectionAnchor": "needs v2"}, 0),
        "tool": ({"tool": "fs.append"}, 3),
        "evidence": ({"evidenceRef": "ev:s1-m1"}, 1),
        "evidence of an annotation": ({"evidenceRef": "ev:s1-m2"}, 1),
        "type": ({"type": "notes_update"}, 4),
        "external": ({"type": "external_edit"}, 1),
        "op": ({"op": "append_file"}, 3),
        "status": ({"status": "committed"}, 8),
        "states": ({"status": ["committed", "failed"]}, 8),
        "open states": ({"status": ["pending", "written"]}, 0),
        "failed": ({"status": "failed"}, 0),
        "pending": ({"status": "pending"}, 0),
        "actor": ({"actor": "other"}, 1),
        "outsider": ({"actor": "external"}, 1),
        "call": ({"toolCallId": "call-1"}, 1),
        "transaction": ({"transactionId": "turn-1"}, 1),
        "action": ({"agentActionId": "act-1"}, 1),
        "text": ({"text": "deadline"}, 2),
        "words": ({"text": "fridays NO"}, 1),
        "words of an annotation": ({"text": "quarterly"}, 1),
        "nothing": ({"text": "100%"}, 0),
        "both": ({"path": NOTES, "op": "append_file", "actor": "companion"}, 2),
    }
    assert len(everything) == 8
    for name, (filters, count) in wanted.items():
        found = rows(busy, **filters)
        assert len(found) == count, name
        assert [row for row in everything if row in found] == found, name


@pytest.mark.parametrize("name", ["questions v1", "questions", "QUESTIONS V1", " open  questions", "Riddles"])
def test_a_section_is_found_by_its_anchor_or_heading_in_any_case(
    garden: Garden, ada: Session, name: str
) -> None:
    plant(ada, CRITIC)
    edit_outside(garden, CRITIC, "## Open Questions", "## Riddles")
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="questions v1", change={"append": "- Why?"})
    assert len(rows(ada, path=CRITIC, sectionAnchor=name, tool="md.patch_section")) == 1
    assert len(rows(ada, sectionAnchor=name, tool="md.patch_section")) == (name != "Riddles")


def test_a_question_about_a_section_includes_every_edit_that_changed_it(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    keeper = garden.session("ada", "keeper", role="maintainer")
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="needs v1", change={"append": "- Rest"})
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1", change={"append": "- Late"})
    edit_outside(garden, CRITIC, "- Rest", "- Quiet")
    ok(ada, "fs.patch", path=CRITIC, diffText="@@ -1,1 +1,2 @@\n - Quiet\n+- Play\n")
    ok(ada, "fs.write", path=CRITIC, content=str(result(ada, "fs.read", path=CRITIC)).replace("Play", "Fun"))
    edit_outside(garden, CRITIC, "<!-- @anchor: needs v1 -->\n", "")
    ok(keeper, "md.repair", path=CRITIC)
    ok(keeper, "md.restore", path=CRITIC, version=2)
    edit_outside(garden, CRITIC, "# Part", "# The Critic")
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1", change={"append": "- Early"})
    assert [row["op"] for row in rows(ada, path=CRITIC, sectionAnchor="needs")] == [
        "restore", "repair", "external_edit", "write_file", "apply_diff", "external_edit", "append_section",
    ]  # fmt: skip
    assert rows(ada, path=CRITIC, sectionAnchor="Change Log") == []


def test_an_event_is_found_by_its_id_or_the_end_of_it(busy: Session) -> None:
    wanted = rows(busy)[3]
    whole = wanted["eventId"]
    for name in (whole, whole[-6:], whole[-8:].upper(), f"evt:{whole}", whole.upper()):
        assert rows(busy, eventId=name) == [wanted], name
    assert rows(busy, eventId="%%%%%%") == []


def test_since_is_inclusive_and_until_is_not(busy: Session) -> None:
    everything = rows(busy)
    times = [row["createdAt"] for row in everything]
    assert rows(busy, since=times[2]) == everything[:3]
    assert rows(busy, until=times[2]) == everything[3:]
    assert rows(busy, since=times[5], until=times[2]) == everything[3:6]
    later = datetime.fromisoformat(times[0]) + timedelta(days=1)
    assert rows(busy, since=later.isoformat()) == []
    assert rows(busy, since="yesterday") == rows(busy, since="3 weeks ago", until="2999-11-01") == everything
    assert rows(busy, until="3d") == rows(busy, since="2999-11-01") == []
    local = datetime.fromisoformat(times[2]).isoformat().replace("+00:00", "-00:00")
    assert rows(busy, since=local) == everything[:3]


@pytest.mark.parametrize("filters", [{}, {"path": NOTES}, {"op": "append_file"}])
def test_pages_follow_one_another_by_their_cursor(busy: Session, filters: dict[str, Any]) -> None:
    whole = rows(busy, **filters)
    found: list[dict[str, Any]] = []
    page = ok(busy, "events.query", **filters, limit=2)
    while True:
        found += page["result"]["rows"]
        if "cursor" not in page["meta"]:
            break
        ok(busy, "fs.append", path=NOTES, text=f"meanwhile {len(found)}")
        page = ok(busy, "events.query", **filters, limit=2, cursor=page["meta"]["cursor"])
    assert found == whole


def test_filters_that_make_no_sense_are_refused(ada: Session) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"path": "users/ben/notes.md"}, "path_not_allowed"),
        ({"path": "../notes.md"}, "path_not_allowed"),
        ({"status": "done"}, "invalid_input"),
        ({"status": []}, "invalid_input"),
        ({"status": ["committed", "done"]}, "invalid_input"),
        ({"since": "tomorrow"}, "invalid_input"),
        ({"eventId": "12345"}, "invalid_input"),
        ({"path": NOTES, "filePath": NOTES}, "invalid_input"),
        ({"limit": 0}, "invalid_input"),
        ({"limit": 501}, "invalid_input"),
        ({"cursor": "next"}, "invalid_input"),
        ({"text": "a\x00b"}, "invalid_input"),
        ({"actor": "a\x00b"}, "invalid_input"),
        ({"type": "\ud800"}, "invalid_input"),
    ]
    for filters, code in wrong:
        refused(ada, "events.query", code, **filters)


def test_a_time_without_offset_is_in_the_zone_of_the_settings(
    ada: Session, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada, NOTES)
    in_tokyo = datetime.fromisoformat(rows(ada)[0]["createdAt"]).astimezone(ZoneInfo("Asia/Tokyo"))
    local = in_tokyo.replace(tzinfo=None).isoformat()
    assert rows(ada, since=local) == []
    monkeypatch.setenv("GARDEN_TIMEZONE", "Asia/Tokyo")
    with open_garden(home.path) as abroad:
        assert len(rows(abroad.session("ada"), since=local)) == 1


def test_times_at_the_ends_of_the_calendar_are_answered(ada: Session) -> None:
    plant(ada, NOTES)
    assert len(rows(ada, since="0001-01-01T00:00:00Z")) == 1
    assert len(rows(ada, until="9999-12-31T23:59:59Z")) == 1
    assert rows(ada, until="1969-12-31T00:00:00Z") == []


def test_a_reviewer_sees_the_events_of_one_user_only(garden: Garden, ada: Session) -> None:
    ben = garden.session("ben", "companion")
    plant(ada, NOTES)
    plant(ben, "users/ben/notes.md")
    reviewer = garden.session("ben", "auditor", role="reviewer")
    assert [row["path"] for row in rows(reviewer)] == ["users/ben/notes.md"]
    refused(reviewer, "events.log", "permission_denied", **SEEN)


def test_the_ids_of_a_session_stand_in_every_event(garden: Garden) -> None:
    session = garden.session("ada", "companion", transaction_id="turn-1", agent_action_id="act-1")
    plant(session, NOTES)
    ok(session, "fs.append", path=NOTES, text="a", agentActionId="act-2")
    newest, first = rows(session)
    assert (first["transactionId"], first["agentActionId"]) == ("turn-1", "act-1")
    assert (newest["transactionId"], newest["agentActionId"]) == ("turn-1", "act-2")


def test_the_chain_of_a_document_counts_its_events(ada: Session) -> None:
    plant(ada, NOTES)
    for text in ("a", "b"):
        ok(ada, "fs.append", path=NOTES, text=text)
    found = rows(ada, path=NOTES)
    assert [row["sequence"] for row in found] == [3, 2, 1]
    assert [row["documentVersion"] for row in found] == [3, 2, 1]
    assert len({row["chainHash"] for row in found}) == 3


def test_a_page_is_cut_short_where_its_events_hold_too_much_text(ada: Session) -> None:
    plant(ada, NOTES)
    for number in range(5):
        ok(ada, "fs.append", path=NOTES, text=f"{number} " + "word " * 30_000)
    found, cursor, pages = [], None, 0
    while cursor is not None or not pages:
        envelope = ok(ada, "events.query", path=NOTES, **({"cursor": cursor} if cursor else {}))
        found += [row["documentVersion"] for row in envelope["result"]["rows"]]
        cursor, pages = envelope["meta"].get("cursor"), pages + 1
    assert found == [6, 5, 4, 3, 2, 1]
    assert pages > 1


def test_an_answer_is_what_its_result_type_and_the_records_say(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES, CRITIC)
    ok(ada, "fs.append", path=NOTES, text="Grünkohl with Aunt Orla", rationale="so", toolCallId="id-1")
    ok(ada, "events.log", **SEEN, filePath=NOTES, toolCallId="id-1", evidenceRefs=["ev:s1-m1"])
    ok(ada, "events.log", **SEEN, details={"share": 0.5, "whole": 2.0})
    ok(ada, "md.curate_list", path=CRITIC, sectionAnchor="strengths v1", op="append", item="x", reason="new")
    edit_outside(garden, CRITIC, "- x", "- y")
    ok(ada, "md.curate_list", path=CRITIC, sectionAnchor="strengths v1", op="append", item="z", reason="new")
    operator = garden.session("ada", "operator", role="maintainer")
    ok(operator, "fs.move", path=NOTES, newPath=NOTES.replace("notes.md", "parts/anxiety/notes.md"))
    ok(operator, "garden.erase", text="Grünkohl with Aunt Orla", reason="She asked for it.")
    tool, sent = REGISTRY["events.query"], ok(ada, "events.query")["result"]
    typed = tool.validate_result(sent)
    assert json.dumps(tool.dump_result(typed)) == json.dumps(sent)
    assert any(row["annotations"] for row in sent["rows"])
    assert any(row["erased"] for row in sent["rows"])
    for view in typed.rows:
        event = garden.services.reader.event("ada", view.event_id)
        assert event is not None
        made = {"chain_hash": event.chain.mac.hex(), "line_hash": (event.line_hash or b"").hex() or None}
        row = {**event_row(event), **made, "lint": event.statement.lint or None}
        shown = {name: getattr(view, name) for name in type(view).model_fields if name in row}
        assert to_jsonable_python(shown) == to_jsonable_python({name: row[name] for name in shown})
        splices = [SpliceView(**asdict(each)) for each in event.splices or ()]
        assert list(view.splices or ()) == splices


def test_events_and_their_annotations_are_found_in_one_round_trip(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="a", toolCallId="id-1")
    ok(ada, "events.log", **SEEN, filePath=NOTES, toolCallId="id-1")
    for filters in ({}, {"path": NOTES}, {"op": "append_file"}):
        assert rows(ada, **filters)[0]["annotations"]
        assert round_trips(garden.services.reader, partial(rows, ada, **filters)) == 1


def round_trips(reader: EventReader, work: Callable[[], object]) -> int:
    """Count the Sync messages on the connection used last."""
    with tempfile.TemporaryFile() as trace:
        with reader._pool.connection() as connection:
            connection.pgconn.trace(trace.fileno())
        work()
        with reader._pool.connection() as same:
            assert same is connection
            connection.pgconn.untrace()
        trace.seek(0)
        return sum("Sync" in line for line in trace.read().decode().splitlines())


def test_only_the_service_records_an_outside_edit(ada: Session) -> None:
    refused(ada, "events.log", "invalid_input", type="external_edit", rationale="made up")
