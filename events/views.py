"""Events on the wire."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, TypeVar
from uuid import UUID

from pydantic import Field

from garden.events.parts import EVENT_PARTS, erased_parts
from garden.events.reader import EventReader
from garden.events.records import Event
from garden.events.rows import Row, annotation_row, event_row
from garden.events.wire import Wire

View = TypeVar("View", bound=Wire)


class SpliceView(Wire):
    """One place of a change: its offset in bytes of the old text, the text removed and the text inserted."""

    offset: int
    removed: str
    inserted: str


class AnnotationView(Wire):
    """A later note about an event."""

    type: str
    op: str
    rationale: str | None
    override_rationale: str | None
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
    sections: tuple[str, ...]
    rationale: str | None
    override_rationale: str | None
    evidence_refs: tuple[str, ...]
    edit: dict[str, Any] | None
    splices: tuple[SpliceView, ...] | None
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
    erased: tuple[str, ...] = Field(description="The parts that lost words, such as splices.")


def event_views(reader: EventReader, user_id: str, events: Sequence[Event]) -> tuple[EventView, ...]:
    """Events with their annotations, which are read here."""
    annotations = reader.annotations(user_id, [event.event_id for event in events]) if events else []
    of_event: dict[UUID, list[AnnotationView]] = {}
    for each in annotations:
        of_event.setdefault(each.event_id, []).append(_view(AnnotationView, annotation_row(each)))
    return tuple(event_view(event, tuple(of_event.get(event.event_id, ()))) for event in events)


def event_view(event: Event, annotations: tuple[AnnotationView, ...]) -> EventView:
    """An event on the wire."""
    splices, row = event.splices, event_row(event)
    erased = erased_parts(row, EVENT_PARTS)
    return _view(
        EventView,
        row,
        status=event.status.value,
        splices=None
        if splices is None
        else tuple(
            SpliceView(offset=each.offset, removed=each.removed, inserted=each.inserted) for each in splices
        ),
        line_hash=event.line_hash.hex() if event.line_hash else None,
        chain_hash=event.chain.mac.hex(),
        annotations=annotations,
        erased=tuple(part for part in EVENT_PARTS if part in erased),
    )


def _view(view: type[View], row: Row, **shown: Any) -> View:
    """Fill a view from the columns of the same names; `shown` holds the fields of another form."""
    columns = {name: row[name] for name in view.model_fields if name in row}
    empty = {name: None for name, value in columns.items() if value == {}}
    return view(**{**columns, **empty, **shown})
