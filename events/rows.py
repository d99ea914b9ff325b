"""Events, heads and annotations as rows, and back.

The columns are the fields of the records, in their order; a splice and a seal take several columns each. The
input types of the database (`garden.event_v1` and the others) have the same columns in the same order.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from psycopg.types.json import Jsonb

from garden.events.keyring import Seal
from garden.events.records import Annotation, Caller, Event, Head, Statement
from garden.events.saga import Status
from garden.grammar.splice import Splice

Row = Mapping[str, Any]


def _names(record: type[Any], *composites: str) -> tuple[str, ...]:
    return tuple(field.name for field in fields(record) if field.name not in composites)


_CALLER, _STATEMENT = _names(Caller), _names(Statement)
_EVENT = _names(Event, "statement", "caller", "splice", "chain", "state")
_ANNOTATION = _names(Annotation, "caller", "chain")
_HEAD = _names(Head, "seal")
_SPLICE = ("splice_offset", "splice_removed", "splice_inserted")
_JSON = ("edit", "lint", "error", "details")

CHAIN_SEAL = ("chain_hash", "integrity_salt_version")
STATE_SEAL = ("state_seal", "state_salt_version")
HEAD_SEAL = ("seal", "seal_salt_version")
# All of an event that ever changes.
STATE = ("status", "after_hash", "error", "written_at", "committed_at", "failed_at")

EVENT_COLUMNS = tuple(dict.fromkeys((*_EVENT, *_STATEMENT, *_CALLER, *_SPLICE, *CHAIN_SEAL, *STATE_SEAL)))
ANNOTATION_COLUMNS = (*_ANNOTATION, *_CALLER, *CHAIN_SEAL)
HEAD_COLUMNS = ("user_id", "path", *_HEAD, *HEAD_SEAL)

# The columns sent with a new record: none that is still empty, none that another one tells. With more than 50
# values psycopg would parse the statement anew each time, which costs a tenth of a write.
NEW_EVENT = tuple(name for name in EVENT_COLUMNS if name not in ("error", "written_at", "failed_at"))
NEW_HEAD = tuple(
    name for name in (*_HEAD, *HEAD_SEAL) if name not in ("tail_sequence", "tail_chain_hash", "updated_at")
)
NEW_STATE = (*STATE, *STATE_SEAL)


def event_row(event: Event) -> dict[str, Any]:
    """Every column of an event, with plain values."""
    return {
        **_fields(event.caller, _CALLER),
        **_fields(event.statement, _STATEMENT),
        **_fields(event, _EVENT),
        **_splice_row(event.splice),
        **seal_row(event.chain, CHAIN_SEAL),
        **seal_row(event.state, STATE_SEAL),
    }


def event_of(row: Row) -> Event:
    """The event of a row."""
    return Event(
        **{**_pick(row, _EVENT), "status": Status(row["status"])},
        statement=Statement(**{**_pick(row, _STATEMENT), "evidence_refs": tuple(row["evidence_refs"])}),
        caller=Caller(**_pick(row, _CALLER)),
        splice=splice_of(row),
        chain=seal_of(row, CHAIN_SEAL),
        state=seal_of(row, STATE_SEAL),
    )


def splice_of(row: Row) -> Splice | None:
    """The splice of an event's row, if it has one."""
    offset, removed, inserted = (row[name] for name in _SPLICE)
    return None if offset is None else Splice(offset, _text(removed), _text(inserted))


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


def parameters(row: Row) -> dict[str, Any]:
    """A row's values as psycopg takes them: objects as JSON."""
    return {
        name: Jsonb(value) if name in _JSON and value is not None else value for name, value in row.items()
    }


def _fields(record: object, names: tuple[str, ...]) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in names}
    if "evidence_refs" in values:
        values["evidence_refs"] = list(values["evidence_refs"])
    return values


def _pick(row: Row, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _splice_row(splice: Splice | None) -> dict[str, Any]:
    if splice is None:
        return dict.fromkeys(_SPLICE)
    values = (splice.offset, _bytes(splice.removed), _bytes(splice.inserted))
    return dict(zip(_SPLICE, values, strict=True))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")
