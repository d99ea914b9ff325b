"""Events and heads. A field declared here is a column: `rows`, `seals` and the SQL follow it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from garden.events.keyring import Seal
from garden.events.payloads import Payload
from garden.events.saga import Status
from garden.grammar.splice import Splices

# The stream of a user's notes that change no document.
JOURNAL = ""
NO_CHAIN = bytes(32)
UNSEALED = Seal(b"", 0)


class RunningCall(Protocol):
    """A call that is under way, as JSON for the account of calls."""

    def begun(self, event_id: UUID, status: Status) -> str:
        """Its row, with an event of it."""

    def ended(self, event_id: UUID, status: Status, code: str | None) -> str:
        """Its outcome, once an event of it has ended, and a failed one with this code."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The user, the actor, its role and the agent's own correlation ids.

    `call` is the call that is under way, if any; it is no part of an event.
    """

    user_id: str
    actor: str
    role: str = "agent"
    tool_call_id: str | None = None
    transaction_id: str | None = None
    agent_action_id: str | None = None
    call: RunningCall | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The words of an event, with or without a change of a document.

    `section_anchor` is the section that was edited; `sections` are those that an edit of the whole document
    changed.
    """

    type: str
    op: str
    tool: str
    path: str | None = None
    entity: str | None = None
    section_anchor: str | None = None
    sections: tuple[str, ...] = ()
    rationale: str | None = None
    override_rationale: str | None = None
    evidence_refs: tuple[str, ...] = ()
    edit: Payload | None = None
    lint: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """Exact, reversible splices, and the hashes of the text after them.

    `raw` hashes cover the file's bytes, the others its canonical form. `sealed_text` is the canonical content
    that the line hash covers: the edited section's, or the whole document's. `leaves_file` is false if the
    document has no file afterwards.
    """

    splices: Splices
    intended_hash: str
    intended_raw_hash: str
    sealed_text: str
    leaves_file: bool = True


class Head(NamedTuple):
    """The version and hashes that the event log believes a document to have, and the end of its chain.

    `has_file` is false before the first version, and after a move away or an erasure.
    """

    version: int = 0
    content_hash: str | None = None
    raw_hash: str | None = None
    has_file: bool = False
    head_event_id: UUID | None = None
    open_event_id: UUID | None = None
    tail_sequence: int = 0
    tail_chain_hash: bytes = NO_CHAIN
    updated_at: datetime | None = None
    seal: Seal = UNSEALED

    @property
    def file_hash(self) -> str | None:
        """The hash that the file's bytes should have; None if there should be no file."""
        return self.raw_hash if self.has_file else None


class LastChange(NamedTuple):
    """What a document's last change tells of the copy that it left of the version before."""

    event_id: UUID
    created_at: datetime
    type: str
    op: str
    before_raw_hash: str | None


class Event(NamedTuple):
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
    splices: Splices | None = None
    document_version: int | None = None
    leaves_file: bool = False
    before_hash: str | None = None
    before_raw_hash: str | None = None
    intended_hash: str | None = None
    intended_raw_hash: str | None = None
    line_hash: bytes | None = None
    salts: bytes = b""
    commitments: bytes = b""
    after_hash: str | None = None
    error: Mapping[str, Any] | None = None
    written_at: datetime | None = None
    committed_at: datetime | None = None
    failed_at: datetime | None = None
    chain: Seal = UNSEALED
    state: Seal = UNSEALED

    @property
    def file_hash(self) -> str | None:
        """The hash of the file's bytes after this change; None if it leaves no file."""
        return self.intended_raw_hash if self.leaves_file else None


def head_after(head: Head, event: Event) -> Head:
    """The head after a committed event; a statement does not move it."""
    if event.document_version is None:
        return head
    return head._replace(
        version=event.document_version,
        content_hash=event.intended_hash,
        raw_hash=event.intended_raw_hash,
        has_file=event.leaves_file,
        head_event_id=event.event_id,
        updated_at=event.committed_at,
    )
