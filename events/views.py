"""Events as callers see them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from garden.events.reader import EventReader
from garden.events.records import Event
from garden.events.wire import Wire


class SpliceView(Wire):
    """The change: so many bytes into the old text, take out, put in."""

    offset: int
    removed: str
    inserted: str


class AnnotationView(Wire):
    """What was said about an event later."""

    type: str
    op: str
    rationale: str | None
    evidence_refs: tuple[str, ...]
    details: dict[str, Any] | None
    actor: str
    created_at: datetime


class EventView(Wire):
    """One event."""

    event_id: UUID
    type: str
    op: str
    tool: str
    status: Literal["pending", "written", "committed", "failed"]
    path: str | None
    entity: str | None
    section_anchor: str | None
    rationale: str | None
    override_rationale: str | None
    evidence_refs: tuple[str, ...]
    edit: dict[str, Any] | None
    splice: SpliceView | None
    document_version: int | None
    before_hash: str | None
    intended_hash: str | None
    after_hash: str | None
    lint: dict[str, Any] | None
    error: dict[str, Any] | None
    actor: str
    role: str
    tool_call_id: str | None
    transaction_id: str | None
    agent_action_id: str | None
    idempotency_key: str | None
    created_at: datetime
    written_at: datetime | None
    committed_at: datetime | None
    failed_at: datetime | None
    sequence: int
    line_hash: str | None
    chain_hash: str
    integrity_salt_version: int
    annotations: tuple[AnnotationView, ...]


def event_views(reader: EventReader, user_id: str, events: Sequence[Event]) -> tuple[EventView, ...]:
    """Show events with what was said about them later."""
    said: dict[UUID, list[AnnotationView]] = {}
    for each in reader.annotations(user_id, [event.event_id for event in events]) if events else []:
        said.setdefault(each.event_id, []).append(
            AnnotationView(
                type=each.type,
                op=each.op,
                rationale=each.rationale,
                evidence_refs=each.evidence_refs,
                details=dict(each.details) if each.details else None,
                actor=each.caller.actor,
                created_at=each.created_at,
            )
        )
    return tuple(event_view(event, tuple(said.get(event.event_id, ()))) for event in events)


def event_view(event: Event, annotations: tuple[AnnotationView, ...]) -> EventView:
    """Show an event as it travels."""
    said, caller, splice = event.statement, event.caller, event.splice
    return EventView(
        event_id=event.event_id,
        type=said.type,
        op=said.op,
        tool=said.tool,
        status=event.status.value,
        path=said.path,
        entity=said.entity,
        section_anchor=said.section_anchor,
        rationale=said.rationale,
        override_rationale=said.override_rationale,
        evidence_refs=said.evidence_refs,
        edit=dict(said.edit) if said.edit else None,
        splice=SpliceView(offset=splice.offset, removed=splice.removed, inserted=splice.inserted)
        if splice
        else None,
        document_version=event.document_version,
        before_hash=event.before_hash,
        intended_hash=event.intended_hash,
        after_hash=event.after_hash,
        lint=dict(said.lint) if said.lint else None,
        error=dict(event.error) if event.error else None,
        actor=caller.actor,
        role=caller.role,
        tool_call_id=caller.tool_call_id,
        transaction_id=caller.transaction_id,
        agent_action_id=caller.agent_action_id,
        idempotency_key=event.idempotency_key,
        created_at=event.created_at,
        written_at=event.written_at,
        committed_at=event.committed_at,
        failed_at=event.failed_at,
        sequence=event.sequence,
        line_hash=event.line_hash.hex() if event.line_hash else None,
        chain_hash=event.chain.mac.hex(),
        integrity_salt_version=event.chain.version,
        annotations=annotations,
    )
