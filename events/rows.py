"""Events, heads and annotations as rows, and back.

The columns are the fields of the records, in their order; splices and a seal take several columns each. The
input types of the database (`garden.event_v1` and the others) have the same columns in the same order.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from psycopg.types.json import Jsonb
from psycopg.types.numeric import Int4

from garden.events.keyring import Seal
from garden.events.payloads import payload_json, payload_of
from garden.events.records import Annotation, Caller, Event, Head, LastChange, Statement
from garden.events.saga import Status
from garden.grammar.canonical import decoded, encoded
from garden.grammar.splice import Splice, Splices

Row = Mapping[str, Any]


def _names(record: type[Any], *composites: str) -> tuple[str, ...]:
    return tuple(field.name for field in fields(record) if field.name not in composites)


_CALLER, _STATEMENT = _names(Caller), _names(Statement)
_EVENT = _names(Event, "statement", "caller", "splices", "chain", "state")
_ANNOTATION = _names(Annotation, "caller", "chain")
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
ANNOTATION_COLUMNS = (*_ANNOTATION, *_CALLER, *CHAIN_SEAL)
HEAD_COLUMNS = ("user_id", "path", *_HEAD, *HEAD_SEAL)

# The columns sent with a new event: none that is still empty, none that another one tells. With more than 50
# values psycopg would parse the statement anew each time, which costs a tenth of a write.
_TOLD = ("after_hash", "error", "written_at", "committed_at", "failed_at", "state_salt_version")
NEW_EVENT = tuple(name for name in EVENT_COLUMNS if name not in _TOLD)
NEW_STATE = (*STATE, *STATE_SEAL)
# What an erasure may change, in the order of the input types.
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


def event_row(event: Event) -> dict[str, Any]:
    """Every column of an event, with plain values."""
    return {
        **_fields(event.caller, _CALLER),
        **_fields(event.statement, _STATEMENT),
        **_fields(event, _EVENT),
        **splices_row(event.splices),
        **seal_row(event.chain, CHAIN_SEAL),
        **seal_row(event.state, STATE_SEAL),
    }


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
    return {**_fields(event, STATE), **seal_row(event.state, STATE_SEAL)}


def head_row(user_id: str, path: str, head: Head) -> dict[str, Any]:
    """Every column of a head but its seal."""
    return {"user_id": user_id, "path": path, **_fields(head, _HEAD)}


def head_of(row: Row) -> Head:
    """The head of a row."""
    return Head(**_pick(row, _HEAD), seal=seal_of(row, HEAD_SEAL))


def annotation_row(annotation: Annotation) -> dict[str, Any]:
    """Every column of an annotation, with plain values."""
    return {
        **_fields(annotation.caller, _CALLER),
        **_fields(annotation, _ANNOTATION),
        **seal_row(annotation.chain, CHAIN_SEAL),
    }


def annotation_of(row: Row) -> Annotation:
    """The annotation of a row."""
    return Annotation(
        **{**_pick(row, _ANNOTATION), "evidence_refs": tuple(row["evidence_refs"])},
        caller=Caller(**_pick(row, _CALLER)),
        chain=seal_of(row, CHAIN_SEAL),
    )


def seal_of(row: Row, names: tuple[str, str]) -> Seal:
    """The seal in two columns of a row."""
    return Seal(*(row[name] for name in names))


def seal_row(seal: Seal, names: tuple[str, str]) -> dict[str, Any]:
    """The two columns of a seal."""
    return dict(zip(names, (seal.mac, seal.version), strict=True))


def last_change_of(row: Row) -> LastChange | None:
    """The last change of a document from its head's row; None for a document without one."""
    if row["head_event_id"] is None or row["change_type"] is None:
        return None
    names = (name for name in LastChange._fields if name != "event_id")
    return LastChange(row["head_event_id"], *(row[f"change_{name}"] for name in names))


def parameters(row: Row) -> dict[str, Any]:
    """A row's values as psycopg takes them: objects as JSON, offsets in one size of integer."""
    return {name: _parameter(name, value) for name, value in row.items()}


def _parameter(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _JSON:
        return Jsonb(value)
    return list(map(Int4, value)) if name == "splice_offsets" else value


def _fields(record: object, names: tuple[str, ...]) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in names}
    for name in _LISTS:
        if name in values:
            values[name] = list(values[name])
    if "edit" in values:
        values["edit"] = payload_json(values["edit"])
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


def written_values(event: Event | None) -> dict[str, Any]:
    """The state of an event that is marked as written on its way to the end; empty without one."""
    state = parameters(state_row(event)) if event else dict.fromkeys(NEW_STATE)
    return {f"written_{name}": value for name, value in state.items()}
