"""Events, heads and annotations. A field declared here is a column: `rows`, `seals` and the SQL follow it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from garden.events.keyring import Seal
from garden.events.saga import Status
from garden.grammar.splice import Splice

# The stream of a user's notes that change no document.
JOURNAL = ""
NO_CHAIN = bytes(32)
UNSEALED = Seal(b"", 0)


@dataclass(frozen=True, slots=True)
class Caller:
    """The user, the actor, its role and the agent's own correlation ids."""

    user_id: str
    actor: str
    role: str = "agent"
    tool_call_id: str | None = None
    transaction_id: str | None = None
    agent_action_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The words of an event, with or without a change of a document."""

    type: str
    op: str
    tool: str
    path: str | None = None
    entity: str | None = None
    section_anchor: str | None = None
    rationale: str | None = None
    override_rationale: str | None = None
    evidence_refs: tuple[str, ...] = ()
    edit: Mapping[str, Any] | None = None
    lint: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """One exact, reversible splice, and the hashes of the texts before and after it.

    `raw` hashes cover the file's bytes, the others its canonical form. `sealed_text` is the canonical content
    that the line hash covers: the edited section's, or the whole document's.
    """

    splice: Splice
    before_hash: str | None
    before_raw_hash: str | None
    intended_hash: str
    intended_raw_hash: str
    sealed_text: str


@dataclass(frozen=True, slots=True)
class Head:
    """The version and hashes that the event log believes a document to have, and the end of its chain."""

    version: int = 0
    content_hash: str | None = None
    raw_hash: str | None = None
    head_event_id: UUID | None = None
    open_event_id: UUID | None = None
    tail_sequence: int = 0
    tail_chain_hash: bytes = NO_CHAIN
    updated_at: datetime | None = None
    seal: Seal = UNSEALED


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of the log."""

    user_id: str
    event_id: UUID
    stream: str
    sequence: int
    statement: Statement
    caller: Caller
    idempotency_key: str | None
    created_at: datetime
    status: Status
    splice: Splice | None = None
    document_version: int | None = None
    before_hash: str | None = None
    before_raw_hash: str | None = None
    intended_hash: str | None = None
    intended_raw_hash: str | None = None
    line_hash: bytes | None = None
    after_hash: str | None = None
    error: Mapping[str, Any] | None = None
    written_at: datetime | None = None
    committed_at: datetime | None = None
    failed_at: datetime | None = None
    chain: Seal = UNSEALED
    state: Seal = UNSEALED


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A later note about an event."""

    annotation_id: UUID
    event_id: UUID
    sequence: int
    type: str
    op: str
    rationale: str | None
    evidence_refs: tuple[str, ...]
    details: Mapping[str, Any] | None
    caller: Caller
    created_at: datetime
    chain: Seal = UNSEALED
