"""The timeline and single events as people see them."""

import re
from html import unescape
from typing import Any
from uuid import UUID

import pytest

from garden.gateway.approvals import DeniedError
from garden.history.checkpoints import make_checkpoints
from garden.history.proofs import parse_proof
from garden.home.settings import TokenPolicy
from tests.support.served import Person, Service
from tests.support.stalled import leave_open
from tests.support.visitors import Visitor, words_of

UNKNOWN = "019a0000-0000-7000-8000-000000000000"
HOSTILE = "<script>alert(1)</script> javascript:alert(1) \u202egnp"


def append(person: Person, text: str = "Slept well.", **shared: Any) -> str:
    """Have the companion write to the notes; returns the id of the event."""
    return str(person.ok("fs.append", path=person.notes, text=text, **shared)["meta"]["eventId"])


def links(page: str) -> list[str]:
    return [unescape(each).removeprefix("/console") for each in re.findall('href="([^"]*)"', page)]


def test_an_event_in_the_list_says_who_did_what_where_and_why(owner: Visitor, ada: Person) -> None:
    event_id = append(ada, rationale="She said so at supper.")
    page = owner.page("/timeline")
    assert "companion append file notes.md § inbox v1 She said so at supper." in words_of(page)
    assert "fs.append · +2 words" in words_of(page)
    assert f"/timeline/{event_id}" in links(page)
    assert f"/documents/{ada.notes}" in links(page)


def test_a_facet_counts_its_events_and_keeps_the_other_filters(owner: Visitor, ada: Person) -> None:
    append(ada)
    assert "Tool fs.append 1 md.plant 1" in owner.text("/timeline")
    narrowed = owner.page("/timeline?actor=companion")
    assert ", remove this filter" in words_of(narrowed)
    assert "/timeline?actor=companion&tool=fs.append" in links(narrowed)
    assert "/timeline" in links(narrowed)
    both = owner.page("/timeline?actor=companion&tool=fs.append")
    assert "1 event companion append file" in words_of(both)
    assert {"/timeline?tool=fs.append", "/timeline?actor=companion"} <= {*links(both)}
    # What all events share divides them no further.
    assert "Actor" not in words_of(narrowed).partition("Narrow down")[2]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 2),
        ("path=notes.md", 2),
        ("section_anchor=inbox", 1),
        ("type=notes_update&op=append_file", 1),
        ("status=failed", 0),
        ("text=SUPPER", 1),
        ("since=1d&until=2999-01-01", 2),
        ("until=2001-01-01", 0),
        ("evidence_ref=ev:s1-m2", 1),
        ("agent_action_id=turn-7", 1),
    ],
)
def test_every_filter_narrows_the_timeline(keeper: Visitor, query: str, count: int) -> None:
    heading = {0: "No events", 1: "1 event", 2: "2 events"}[count]
    page = keeper.page(f"/timeline?{query}")
    assert f'<h2 id="found">{heading}</h2>' in page
    assert ("No event has all of this." in page) == (count == 0)


def test_older_events_are_on_the_next_page(owner: Visitor, ada: Person) -> None:
    for number in range(26):
        append(ada, f"Evening {number}.")
    first = owner.page("/timeline?tool=fs.append")
    [older] = [each for each in links(first) if "cursor=" in each]
    assert older.startswith("/timeline?tool=fs.append&")
    shown = [set(re.findall(r"/timeline/([0-9a-f-]{36})", each)) for each in (first, owner.page(older))]
    assert [len(each) for each in shown] == [25, 1]
    assert shown[0].isdisjoint(shown[1])
    assert "26 events" in first


def test_a_wrong_filter_is_explained_and_the_form_kept(owner: Visitor) -> None:
    answer = owner.get("/timeline?since=someday&text=supper")
    assert answer.status_code == 400
    assert "it is not a time" in words_of(answer.text)
    assert "events.query" not in words_of(answer.text)
    assert 'value="someday"' in answer.text
    assert owner.get("/timeline?cursor=nowhere").status_code == 400


def test_a_document_that_does_not_exist_keeps_the_form(owner: Visitor) -> None:
    refused = owner.get("/timeline?path=note.md&text=frost")
    assert refused.status_code == 403
    assert "Did you mean" in words_of(refused.text)
    assert 'value="frost"' in refused.text


def test_each_user_sees_a_timeline_of_their_own(owner: Visitor, ben: Person) -> None:
    event_id = append(ben, "Ben slept well.")
    assert ben.user_id not in owner.page("/timeline")
    for path in (f"/timeline/{event_id}", f"/timeline/{event_id}/proof", f"/timeline/{UNKNOWN}"):
        assert owner.get(path).status_code == 404
    assert owner.get(f"/timeline?path={ben.notes}").status_code == 403


@pytest.mark.parametrize("name", ["x", "%00%00%00%00%00%00%00", "%F0%9F%8C%B1" * 3, "0" * 4000])
def test_an_impossible_event_is_refused(keeper: Visitor, name: str) -> None:
    assert keeper.get(f"/timeline/{name}").status_code in (400, 404)


def test_words_of_events_are_only_words(owner: Visitor, ada: Person) -> None:
    event_id = append(ada, HOSTILE, rationale=HOSTILE[:-4], agentActionId="<b>turn</b>")
    for path in ("/timeline", f"/timeline/{event_id}"):
        page = owner.page(path)
        assert "<script>alert" not in page
        assert "<b>turn" not in page
        assert "\u202e" not in page
    assert "U+202E" in owner.page(f"/timeline/{event_id}")
    assert "/timeline?agent_action_id=<b>turn</b>" not in links(page)


def test_endless_words_do_not_make_endless_pages(owner: Visitor, ada: Person, service: Service) -> None:
    file = service.garden.home.path / ada.notes
    endless = "x" * 300_000, "\u202e" * 90_000
    file.write_text("{}\n## {}\n\n- {}\n".format(file.read_text(), *endless))
    append(ada)
    [row] = ada.ok("events.query", type="external_edit")["result"]["rows"]
    assert len(owner.page("/timeline").encode()) < 150_000
    assert len(owner.page(f"/timeline/{row['eventId']}").encode()) < 2_000_000
    assert len(owner.page("/").encode()) < 150_000


def test_an_event_is_shown_whole(reviewer: Visitor, ada: Person) -> None:
    said = {"rationale": "She said so.", "evidenceRefs": ["ev:s1-m2"]}
    ids = {"toolCallId": "call-1", "transactionId": "talk-2", "agentActionId": "turn-7"}
    event_id = append(ada, "Slept well.", **said, **ids)
    page = reviewer.page(f"/timeline/{event_id[-8:]}")
    words = words_of(page)
    for part in ("+Slept well.", "She said so.", "Lint no findings", "version 2", "Chain hash", "Created"):
        assert part in words
    assert event_id in words
    linked = {*links(page)}
    assert {
        "/timeline?transaction_id=talk-2",
        "/timeline?agent_action_id=turn-7",
        "/timeline?tool_call_id=call-1",
        "/timeline?evidence_ref=ev%3As1-m2",
        f"/documents/{ada.notes}?at=2",
        f"/timeline/{event_id}/proof",
    } <= linked
    assert "All events of this document" in words


def test_an_interrupted_change_says_that_it_is_not_made(
    owner: Visitor, ada: Person, service: Service
) -> None:
    leave_open(service.garden, ada.notes, "Slept well.")
    [row] = ada.ok("events.query", status="pending")["result"]["rows"]
    assert "State committed 1 pending 1" in owner.text("/timeline")
    page = owner.page(f"/timeline/{row['eventId']}")
    assert '<span class="chip warn">pending</span>' in page
    assert "The change it was to make" in page
    assert "?at=" not in page
    assert "do=undo" not in page


def test_an_override_and_a_later_note_are_shown(owner: Visitor, ada: Person) -> None:
    event_id = append(ada, toolCallId="call-9", overrideRationale="She asked to keep it.")
    ada.ok(
        "events.log",
        type="decision",
        path=ada.notes,
        rationale="We spoke about it.",
        toolCallId="call-9",
    )
    words = owner.text(f"/timeline/{event_id}")
    assert "Override She asked to keep it." in words
    assert "Said of it later" in words
    assert "We spoke about it." in words


def test_a_maintainer_is_led_to_the_undo_and_a_reviewer_is_not(
    owner: Visitor, reviewer: Visitor, ada: Person
) -> None:
    planted = ada.ok("events.query", path=ada.notes)["result"]["rows"][-1]["eventId"]
    event_id = append(ada)
    undo = f"/documents/notes.md?do=undo&event={event_id}"
    assert undo in links(owner.page(f"/timeline/{event_id}"))
    assert "Undo one change" in owner.text(undo)
    assert "do=undo" not in reviewer.page(f"/timeline/{event_id}")
    assert "do=undo" not in owner.page(f"/timeline/{planted}")


def test_an_edit_by_hand_that_lost_lines_of_an_agent_says_so(
    owner: Visitor, reviewer: Visitor, ada: Person, service: Service
) -> None:
    append(ada, "The lamp was lit late.")
    file = service.garden.home.path / ada.notes
    file.write_text(file.read_text().replace("The lamp was lit late.", ""))
    append(ada, "Slept well.")
    [row] = ada.ok("events.query", type="external_edit")["result"]["rows"]
    said = "removed lines that others had saved."
    assert f"{said} Put them back" in owner.text(f"/timeline/{row['eventId']}")
    assert f"{said} A maintainer can" in reviewer.text(f"/timeline/{row['eventId']}")


def test_the_proof_of_an_event_is_sent_once_a_checkpoint_holds_it(
    reviewer: Visitor, ada: Person, service: Service
) -> None:
    event_id = append(ada)
    early = reviewer.get(f"/timeline/{event_id}/proof")
    assert early.status_code == 404
    assert "No signed checkpoint holds this event yet." in words_of(early.text)
    list(make_checkpoints(service.garden.services))
    sent = reviewer.get(f"/timeline/{event_id}/proof")
    assert sent.headers["content-disposition"] == f"attachment; filename*=utf-8''{event_id}.tlog-proof"
    assert parse_proof(sent.content).entry.startswith(f"event/v1 {event_id} ".encode())


def test_a_policy_that_hides_events_hides_them_here(ada: Person, service: Service) -> None:
    policy = TokenPolicy(permissions={"events.query": "deny"})
    issued = service.garden.tokens.create(
        ada.user_id, role="agent", actor="guest", expires_at=None, policy=policy
    )
    event_id = append(ada)
    with service.client(None) as client:
        client.post("/console/sign-in", data={"token": issued.secret})
        for path in ("/", "/timeline", f"/timeline/{event_id}", f"/timeline/{event_id}/proof"):
            assert client.get(f"/console{path}").status_code == 403
    access = service.garden.session(ada.user_id, "guest", policy=policy.model_dump(mode="json")).access
    lookups = service.garden.lookups
    for look in (
        lambda: lookups.facets(access, {}),
        lambda: lookups.proof(access, UUID(event_id)),
    ):
        with pytest.raises(DeniedError):
            look()
