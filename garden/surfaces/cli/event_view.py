"""Events, shown to people: in a narrow table, and one of them whole."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from rich.text import Text

from garden.surfaces.cli.common import Desk
from garden.surfaces.cli.lookup import shown_time
from garden.surfaces.cli.render import say, show_diff, show_table

_NAME_CHARACTERS = 8
_HEADINGS = ("event", "time", "actor", "op", "document", "status")
_STATES = {"committed": "", "failed": "bold red", "pending": "yellow", "written": "yellow"}
_FIELDS = (
    ("type", "type"),
    ("op", "op"),
    ("tool", "tool"),
    ("sectionAnchor", "section"),
    ("actor", "actor"),
    ("role", "role"),
    ("rationale", "rationale"),
    ("overrideRationale", "override"),
    ("documentVersion", "version"),
    ("beforeHash", "before"),
    ("afterHash", "after"),
    ("toolCallId", "tool call"),
    ("transactionId", "transaction"),
    ("agentActionId", "agent action"),
    ("idempotencyKey", "idempotency key"),
    ("committedAt", "committed"),
    ("failedAt", "failed"),
)


def show_events(desk: Desk, rows: Sequence[dict[str, Any]], *, headed: bool, diff: bool) -> None:
    """Print events, each in a row; with their diffs, one below the other."""
    if not diff:
        if rows:
            # Almost always all of them are committed, and the paths need the room.
            wanted = len(_HEADINGS) - all(row["status"] == "committed" for row in rows)
            cells = [_cells(desk, row)[:wanted] for row in rows]
            show_table(_HEADINGS[:wanted], cells, headed=headed)
        return
    for row in rows:
        say(
            Text(
                "  ".join(cell.plain for cell in map(_as_text, _cells(desk, row)) if cell.plain), style="bold"
            )
        )
        if row["rationale"]:
            say(f"  {row['rationale']}")
        show_diff(desk.garden.lookups.diff(desk.session.caller, row["eventId"]))
        say("")


def show_event(desk: Desk, row: dict[str, Any], diff: str) -> None:
    """Print all of one event that a person may want to know, and what it changed."""
    state = Text(row["status"], style=_STATES[row["status"]])
    say(Text.assemble((f"event {row['eventId']}", "bold"), "  ", shown_time(row["createdAt"]), "  ", state))
    if row["path"]:
        say(f"{'document':<16}{desk.short(row['path'])}")
    for field, name in _FIELDS:
        if row[field] is not None:
            say(f"{name:<16}{row[field]}")
    if row["evidenceRefs"]:
        say(f"{'evidence':<16}{', '.join(row['evidenceRefs'])}")
    if row["error"]:
        say(f"{'error':<16}{row['error'].get('code')}: {row['error'].get('message')}")
    for each in row["annotations"]:
        told = f"{each['type']} by {each['actor']}: {each['rationale'] or ''}"
        say(f"{'annotation':<16}{told}")
    if diff:
        say("")
        show_diff(diff)


def _cells(desk: Desk, row: dict[str, Any]) -> tuple[str | Text, ...]:
    place = desk.short(row["path"])
    section = f" · {row['sectionAnchor']}" if row["sectionAnchor"] else ""
    return (
        str(UUID(row["eventId"]))[-_NAME_CHARACTERS:],
        shown_time(row["createdAt"]),
        row["actor"],
        row["op"],
        f"{place}{section}",
        _state(row["status"]),
    )


def _state(status: str) -> Text:
    return Text("" if status == "committed" else status, style=_STATES[status])


def _as_text(cell: str | Text) -> Text:
    return cell if isinstance(cell, Text) else Text(cell)
