"""Events, heads and annotations as rows, and back."""

from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Jsonb

from garden.events.keyring import Seal
from garden.events.records import Annotation, Caller, Event, Head, Statement
from garden.events.saga import Status
from garden.grammar.splice import Splice

STATE = ("status", "after_hash", "error", "written_at", "committed_at", "failed_at")
_HEAD = (
    "version", "content_hash", "raw_hash", "head_event_id", "open_event_id",
    "tail_sequence", "tail_chain_hash", "updated_at",
)  # fmt: skip
_JSON = ("edit", "lint", "error", "details")

Row = Mapping[str, Any]


def event_row(event: Event) -> dict[str, Any]:
    """Give every column of an event, plain values in each."""
    said, caller, splice = event.statement, event.caller, event.splice
    return {
        "user_id": event.user_id,
        "event_id": event.event_id,
        "stream": event.stream,
        "sequence": event.sequence,
        **_said(said),
        "tool": said.tool,
        "path": said.path,
        "entity": said.entity,
        "section_anchor": said.section_anchor,
        "override_rationale": said.override_rationale,
        "edit": said.edit,
        "splice_offset": splice.offset if splice else None,
        "splice_removed": _bytes(splice.removed) if splice else None,
        "splice_inserted": _bytes(splice.inserted) if splice else None,
        "document_version": event.document_version,
        "before_hash": event.before_hash,
        "before_raw_hash": event.before_raw_hash,
        "intended_hash": event.intended_hash,
        "intended_raw_hash": event.intended_raw_hash,
        "lint": said.lint,
        **_who(caller),
        "idempotency_key": event.idempotency_key,
        "created_at": event.created_at,
        "line_hash": event.line_hash,
        "chain_hash": event.chain.mac,
        "integrity_salt_version": event.chain.version,
        **{name: getattr(event, name) for name in STATE},
        "state_seal": event.state.mac,
        "state_salt_version": event.state.version,
    }


def state_row(event: Event | None) -> dict[str, Any]:
    """Give the columns of an event's state, ready for the database; for no event, all of them empty."""
    if event is None:
        return dict.fromkeys((*STATE, "state_seal", "state_salt_version"))
    state = {name: getattr(event, name) for name in STATE}
    return parameters({**state, "state_seal": event.state.mac, "state_salt_version": event.state.version})


def event_of(row: Row) -> Event:
    """Read an event from its row."""
    return Event(
        user_id=row["user_id"],
        event_id=row["event_id"],
        stream=row["stream"],
        sequence=row["sequence"],
        statement=Statement(
            type=row["type"],
            op=row["op"],
            tool=row["tool"],
            path=row["path"],
            entity=row["entity"],
            section_anchor=row["section_anchor"],
            rationale=row["rationale"],
            override_rationale=row["override_rationale"],
            evidence_refs=tuple(row["evidence_refs"]),
            edit=row["edit"],
            lint=row["lint"],
        ),
        caller=_caller(row),
        idempotency_key=row["idempotency_key"],
        created_at=row["created_at"],
        splice=splice_of(row),
        document_version=row["document_version"],
        before_hash=row["before_hash"],
        before_raw_hash=row["before_raw_hash"],
        intended_hash=row["intended_hash"],
        intended_raw_hash=row["intended_raw_hash"],
        line_hash=row["line_hash"],
        chain=Seal(row["chain_hash"], row["integrity_salt_version"]),
        status=Status(row["status"]),
        after_hash=row["after_hash"],
        error=row["error"],
        written_at=row["written_at"],
        committed_at=row["committed_at"],
        failed_at=row["failed_at"],
        state=Seal(row["state_seal"], row["state_salt_version"]),
    )


def splice_of(row: Row) -> Splice | None:
    """Read an event's splice, if it has one."""
    if row["splice_offset"] is None:
        return None
    return Splice(row["splice_offset"], _text(row["splice_removed"]), _text(row["splice_inserted"]))


def head_row(user_id: str, path: str, head: Head) -> dict[str, Any]:
    """Give every column of a head."""
    return {
        "user_id": user_id,
        "path": path,
        **{name: getattr(head, name) for name in _HEAD},
        "seal": head.seal.mac,
        "seal_salt_version": head.seal.version,
    }


def head_of(row: Row) -> Head:
    """Read a head from its row."""
    return Head(**{name: row[name] for name in _HEAD}, seal=Seal(row["seal"], row["seal_salt_version"]))


def annotation_row(user_id: str, annotation: Annotation) -> dict[str, Any]:
    """Give every column of an annotation."""
    return {
        "user_id": user_id,
        "annotation_id": annotation.annotation_id,
        "event_id": annotation.event_id,
        "sequence": annotation.sequence,
        "type": annotation.type,
        "op": annotation.op,
        "rationale": annotation.rationale,
        "evidence_refs": list(annotation.evidence_refs),
        "details": annotation.details,
        **_who(annotation.caller),
        "created_at": annotation.created_at,
        "chain_hash": annotation.chain.mac,
        "integrity_salt_version": annotation.chain.version,
    }


def annotation_of(row: Row) -> Annotation:
    """Read an annotation from its row."""
    return Annotation(
        annotation_id=row["annotation_id"],
        event_id=row["event_id"],
        sequence=row["sequence"],
        type=row["type"],
        op=row["op"],
        rationale=row["rationale"],
        evidence_refs=tuple(row["evidence_refs"]),
        details=row["details"],
        caller=_caller(row),
        created_at=row["created_at"],
        chain=Seal(row["chain_hash"], row["integrity_salt_version"]),
    )


def parameters(row: Row) -> dict[str, Any]:
    """Dress a row's JSON columns for the database."""
    return {
        name: Jsonb(value) if name in _JSON and value is not None else value for name, value in row.items()
    }


def _said(said: Statement) -> dict[str, Any]:
    return {
        "type": said.type,
        "op": said.op,
        "rationale": said.rationale,
        "evidence_refs": list(said.evidence_refs),
    }


def _who(caller: Caller) -> dict[str, Any]:
    return {
        "actor": caller.actor,
        "role": caller.role,
        "tool_call_id": caller.tool_call_id,
        "transaction_id": caller.transaction_id,
        "agent_action_id": caller.agent_action_id,
    }


def _caller(row: Row) -> Caller:
    names = ("user_id", "actor", "role", "tool_call_id", "transaction_id", "agent_action_id")
    return Caller(*(row[name] for name in names))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")
