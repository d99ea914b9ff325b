"""Events, heads and annotations as rows, and back.

The columns are the fields of the records, in their order; splices and a seal take several columns each. The
input types of the database (`garden.event_v1` and the others) have the same columns in the same order.
"""

from collections.abc import Mapping
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from garden.events.keyring import Seal
from garden.events.parts import ANNOTATION_PARTS, EVENT_PARTS
from garden.events.payloads import payload_json, payload_of
from garden.events.records import Caller, Event, Head, LastChange, Statement
from garden.events.saga import Status
from garden.grammar.canonical import decoded, encoded
from garden.grammar.splice import Splice, Splices

Row = Mapping[str, Any]


def _names(record: type[Any], *composites: str) -> tuple[str, ...]:
    return tuple(name for name in record.__annotations__ if name not in composites)


_CALLER, _STATEMENT = _names(Caller, "call"), _names(Statement)
_EVENT = _names(Event, "statement", "caller", "splices", "chain", "state")
_HEAD = _names(Head, "seal")
_SPLICES = ("splice_offsets", "splices_removed", "splices_inserted")
_LISTS = ("sections", "evidence_refs")
_JSON = ("edit", "lint", "error", "details")

CHAIN_SEAL = ("chain_hash", "integrity_salt_version")
STATE_SEAL = ("state_seal", "state_salt_version")
HEAD_SEAL = ("seal", "seal_salt_version")
REQUEST_SEAL = ("request_seal", "request_salt_version")
ANSWER_SEAL = ("answer_seal", "answer_salt_version")
# All of an event that ever changes, but for an erasure.
STATE = ("status", "after_hash", "error", "written_at", "committed_at", "failed_at")

EVENT_COLUMNS = tuple(dict.fromkeys((*_EVENT, *_STATEMENT, *_CALLER, *_SPLICES, *CHAIN_SEAL, *STATE_SEAL)))
ANNOTATION_COLUMNS = (
    "annotation_id", "event_id", "sequence", "type", "op", "rationale", "override_rationale", "evidence_refs",
    "details", "created_at", "salts", "commitments", *_CALLER, *CHAIN_SEAL,
)  # fmt: skip
PASSAGE = (
    "passage", "path", "anchor", "name", "heading", "language", "text", "day", "event_id", "tags", "priority",
    "summary_type", "period_key",
)  # fmt: skip
VERSION = (
    "path", "document_version", "event_id", "created_at", "status", "leaves_file", "type", "op", "tool",
    "role", "actor", "section_anchor", "sections", "rationale", "edit ->> 'fromPath' as came_from",
)  # fmt: skip
HEAD_COLUMNS = ("user_id", "path", *_HEAD, *HEAD_SEAL)
# What a leaf of the transparency log covers: all that an erasure leaves as it is. The error of a failed event
# may quote the request; its state's seal stands for it.
LEAF_EVENT = tuple(
    name
    for name in EVENT_COLUMNS
    if name not in {"salts", "after_hash", "error"}.union(*EVENT_PARTS.values())
)
LEAF_ANNOTATION = tuple(
    name for name in ANNOTATION_COLUMNS if name not in {"salts"}.union(*ANNOTATION_PARTS.values())
)

# The columns sent with a new event: none that is still empty, none that another one tells. With more than 50
# values psycopg would parse the statement anew each time, which costs a tenth of a write.
_TOLD = ("after_hash", "error", "written_at", "committed_at", "failed_at", "state_salt_version")
NEW_EVENT = tuple(name for name in EVENT_COLUMNS if name not in _TOLD)
NEW_STATE = (*STATE, *STATE_SEAL)
WRITTEN_STATE = tuple(f"written_{name}" for name in NEW_STATE)
# The id, and every part that an erasure may change, in the order of the input types; a test compares them.
FILLED_EVENT = (
    "event_id", "section_anchor", "sections", "rationale", "override_rationale", "evidence_refs", "edit",
    "splices_removed", "splices_inserted", "lint", "before_hash", "before_raw_hash", "intended_hash",
    "intended_raw_hash", "line_hash", "tool_call_id", "transaction_id", "agent_action_id", "idempotency_key",
    "salts",
)  # fmt: skip
FILLED_ANNOTATION = (
    "annotation_id", "rationale", "override_rationale", "evidence_refs", "details", "tool_call_id",
    "transaction_id", "agent_action_id", "salts",
)  # fmt: skip

# Where each column's value is in an event; that of any other column is under its own name.
_PLACES = {
    **{name: f"caller.{name}" for name in _CALLER if name != "user_id"},
    **{name: f"statement.{name}" for name in _STATEMENT},
    "chain_hash": "chain.mac",
    "integrity_salt_version": "chain.version",
    "state_seal": "state.mac",
    "state_salt_version": "state.version",
}
_UNSPLICED = tuple(name for name in EVENT_COLUMNS if name not in _SPLICES)
_event_values = attrgetter(*(_PLACES.get(name, name) for name in _UNSPLICED))
_state_values = attrgetter(*(_PLACES.get(name, name) for name in NEW_STATE))
_head_values, _head_columns = attrgetter(*_HEAD), itemgetter(*_HEAD)
_last_change_values = itemgetter(
    "head_event_id", *(f"change_{name}" for name in LastChange._fields if name != "event_id")
)


def event_row(event: Event) -> dict[str, Any]:
    """Every column of an event, with plain values."""
    row = dict(zip(_UNSPLICED, _event_values(event), strict=True)) | splices_row(event.splices)
    row["sections"], row["evidence_refs"] = list(row["sections"]), list(row["evidence_refs"])
    row["edit"] = payload_json(row["edit"])
    return row


def event_of(row: Row) -> Event:
    """The event of a row."""
    return Event(
        **{**_pick(row, _EVENT), "status": Status(row["status"])},
        statement=Statement(
            **{
                **_pick(row, _STATEMENT),
                **{name: tuple(row[name]) for name in _LISTS},
                "edit": payload_of(row["edit"]),
            }
        ),
        caller=Caller(**_pick(row, _CALLER)),
        splices=splices_of(row),
        chain=seal_of(row, CHAIN_SEAL),
        state=seal_of(row, STATE_SEAL),
    )


def splices_of(row: Row) -> Splices | None:
    """The splices of an event's row, if it has any."""
    if row["splice_offsets"] is None:
        return None
    columns = (row[name] for name in _SPLICES)
    return tuple(
        Splice(offset, decoded(removed), decoded(inserted))
        for offset, removed, inserted in zip(*columns, strict=True)
    )


def state_row(event: Event) -> dict[str, Any]:
    """The columns of an event's state."""
    return dict(zip(NEW_STATE, _state_values(event), strict=True))


def head_row(user_id: str, path: str, head: Head) -> dict[str, Any]:
    """Every column of a head but its seal."""
    return {"user_id": user_id, "path": path, **dict(zip(_HEAD, _head_values(head), strict=True))}


def head_of(row: Row) -> Head:
    """The head of a row."""
    return Head._make((*_head_columns(row), seal_of(row, HEAD_SEAL)))


def annotation_row(
    annotation_id: UUID, event_id: UUID, sequence: int, statement: Statement, caller: Caller, at: datetime
) -> dict[str, Any]:
    """Every column of an annotation but its salts, commitments and seal."""
    said = {name: getattr(statement, name) for name in ("type", "op", "rationale", "override_rationale")}
    row = {"annotation_id": annotation_id, "event_id": event_id, "sequence": sequence, "created_at": at}
    lists = {"evidence_refs": list(statement.evidence_refs), "details": payload_json(statement.edit)}
    return {**row, **said, **lists, **{name: getattr(caller, name) for name in _CALLER}}


def seal_of(row: Row, names: tuple[str, str]) -> Seal:
    """The seal in two columns of a row."""
    mac, version = names
    return Seal(row[mac], row[version])


def seal_row(seal: Seal, names: tuple[str, str]) -> dict[str, Any]:
    """The two columns of a seal."""
    return dict(zip(names, (seal.mac, seal.version), strict=True))


def last_change_of(row: Row) -> LastChange | None:
    """The last change of a document from its head's row; None for a document without one."""
    if row["head_event_id"] is None or row["change_type"] is None:
        return None
    return LastChange(*_last_change_values(row))


def parameters(row: Row) -> dict[str, Any]:
    """A row's values as psycopg takes them: objects as JSON, splices and empty lists as text of Postgres."""
    values = dict(row)
    for name in _JSON:
        if name in values and values[name] is not None:
            values[name] = Jsonb(values[name])
    for name in _LISTS:
        if name in values and not values[name]:
            values[name] = "{}"
    if "splice_offsets" in values and values["splice_offsets"] is not None:
        values["splice_offsets"] = f"{{{','.join(map(str, values['splice_offsets']))}}}"
    for name in _SPLICES[1:]:
        if name in values and values[name] is not None:
            quoted = [rf'"\\x{data.hex()}"' for data in values[name]]
            values[name] = f"{{{','.join(quoted)}}}"
    return values


def _pick(row: Row, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in names}


def splices_row(splices: Splices | None) -> dict[str, Any]:
    """The columns of splices."""
    if splices is None:
        return dict.fromkeys(_SPLICES)
    offsets = [splice.offset for splice in splices]
    removed = [encoded(splice.removed) for splice in splices]
    inserted = [encoded(splice.inserted) for splice in splices]
    return dict(zip(_SPLICES, (offsets, removed, inserted), strict=True))


def transition_values(event: Event, expected: Status) -> dict[str, Any]:
    """The values that move an event on from the `expected` state."""
    return {
        "user_id": event.user_id,
        "event_id": event.event_id,
        "expected": expected,
        **parameters(state_row(event)),
    }


def written_values(ended: Event | None) -> dict[str, Any]:
    """The written state that an event passes on its way to the end; empty without one.

    One transaction does both and no other sees this state, so it has the seal of the end.
    """
    if ended is None:
        return dict.fromkeys(WRITTEN_STATE)
    state = state_row(ended) | {"status": Status.WRITTEN, "committed_at": None}
    return dict(zip(WRITTEN_STATE, parameters(state).values(), strict=True))
