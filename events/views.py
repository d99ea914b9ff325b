"""Events on the wire."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field
from pydantic_core import from_json

from garden.events.parts import ERASED_SALT, EVENT_PARTS, erased_parts
from garden.events.wire import Wire
from garden.grammar.canonical import decoded


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


_NAMES = tuple(field.alias or name for name, field in EventView.model_fields.items())
_TIMES = ("createdAt", "writtenAt", "committedAt", "failedAt")
_OBJECTS = len(_NAMES)


def event_views(rows: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Events as they are on the wire, from the columns of `event_view.sql`."""
    objects = from_json(f"[{','.join([row[_OBJECTS] for row in rows])}]")
    return [_view(row, *each) for row, each in zip(rows, objects, strict=True)]


def page_length(rows: Sequence[tuple[Any, ...]], size_max: int) -> int:
    """How many of these rows fit in a page of so much text; the first one always does."""
    size = 0
    for number, row in enumerate(rows):
        *_, objects, _, removed, inserted, _ = row
        size += len(objects) + sum(map(len, removed or ())) + sum(map(len, inserted or ()))
        if size > size_max and number > 0:
            return number
    return len(rows)


def _view(row: tuple[Any, ...], edit: Any, lint: Any, error: Any, annotations: Any) -> dict[str, Any]:
    *_, offsets, removed, inserted, salts = row
    # The last columns have no name, and are left out.
    view: dict[str, Any] = dict(zip(_NAMES, row, strict=False))
    view["edit"], view["lint"], view["error"] = edit, lint, error
    for name in _TIMES:
        if view[name] is not None:
            view[name] = f"{view[name].isoformat()}Z"
    if offsets is not None:
        view["splices"] = [
            {"offset": offset, "removed": decoded(old), "inserted": decoded(new)}
            for offset, old, new in zip(offsets, removed, inserted, strict=True)
        ]
    view["annotations"] = [_annotation(each) for each in annotations] if annotations else []
    erased = erased_parts({"salts": salts}, EVENT_PARTS) if ERASED_SALT in salts else ()
    view["erased"] = [part for part in EVENT_PARTS if part in erased] if erased else []
    return view


def _annotation(view: dict[str, Any]) -> dict[str, Any]:
    # Read, since the database leaves out the last zeros of a fraction.
    return view | {"createdAt": f"{datetime.fromisoformat(view['createdAt']).isoformat()}Z"}
