"""One event whole: its change, its reasons, what it is linked to, its seal and the proof of it."""

import json
from io import BytesIO

from garden.events.views import EventView
from garden.surfaces.web.console.timeline import row_of
from garden.surfaces.web.console.visits import Download, Page, View, Visit, address

_LINKED = ("transaction_id", "agent_action_id", "tool_call_id")
_HASHES = ("before_hash", "intended_hash", "after_hash", "line_hash", "chain_hash")
_TIMES = ("created_at", "written_at", "committed_at", "failed_at")
_DIFF_CHARACTERS_MAX = 30_000
_REQUEST_CHARACTERS_MAX = 8_000


def show_event(visit: Visit) -> Page:
    """Show everything about an event; its id may be the last characters of it."""
    lookups = visit.garden.lookups
    event = lookups.event_named(visit.access, visit.place["event_id"])
    name = str(event.event_id)
    diff = lookups.diff(visit.caller, name)
    return Page(
        "event.html",
        {
            "event": event,
            "row": row_of(event, visit),
            "diff": diff[:_DIFF_CHARACTERS_MAX],
            "is_cut": len(diff) > _DIFF_CHARACTERS_MAX,
            "linked": [(each, value) for each in _LINKED if (value := getattr(event, each))],
            "hashes": [(each, value) for each in _HASHES if (value := getattr(event, each))],
            "times": [(each, at) for each in _TIMES if (at := getattr(event, each))],
            "lost": bool(lookups.way_back(visit.caller, name)),
            "can_undo": visit.is_maintainer and _can_undo(event),
            "request": _request_of(event),
            "at_version": address(f"/documents/{event.path}", at=event.document_version),
        },
    )


def send_proof(visit: Visit) -> Download:
    """Send a proof that the event is in the log, which a public key alone verifies."""
    lookups = visit.garden.lookups
    event = lookups.event_named(visit.access, visit.place["event_id"])
    proof = lookups.proof(visit.access, event.event_id)
    return Download(f"{event.event_id}.tlog-proof", BytesIO(proof.encode()), "text/plain; charset=utf-8")


def _can_undo(event: EventView) -> bool:
    """Whether an undo may work; its page says it if not."""
    is_change = bool(event.splices) and event.before_hash is not None
    return event.status == "committed" and is_change and "splices" not in event.erased


def _request_of(event: EventView) -> str:
    """What was asked for, as it is recorded."""
    text = json.dumps(event.edit, indent=1, ensure_ascii=False) if event.edit else ""
    return f"{text[:_REQUEST_CHARACTERS_MAX]} …" if len(text) > _REQUEST_CHARACTERS_MAX else text


_ID = "{event_id}"
VIEWS = (
    View("GET", f"/timeline/{_ID}/proof", send_proof),
    View("GET", f"/timeline/{_ID}", show_event),
)
