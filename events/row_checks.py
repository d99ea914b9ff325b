"""The checks of one event after the other, and of the head that they lead to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from garden.events.erased_rows import tombstone_holds
from garden.events.keyring import Keyring
from garden.events.parts import ANNOTATION_PARTS, EVENT_PARTS, Parts, broken_parts, erased_parts
from garden.events.records import NO_CHAIN
from garden.events.rows import Row, splices_of
from garden.events.saga import Status
from garden.events.seals import annotation_holds, chain_holds, head_holds, line_holds, state_holds
from garden.grammar.canonical import canonical, decoded, raw_hash
from garden.grammar.errors import GardenError
from garden.grammar.splice import apply_to_bytes

See = Callable[[Row, "Tail"], None]
"""Called with each event that verifies, and with the state of its stream before it."""


class FaultFoundError(Exception):
    """Stops the check of a stream at its first fault."""

    def __init__(self, message: str, row: Row | None, *, of_head: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.of_head = of_head


@dataclass(slots=True)
class Tail:
    """The state of a stream's check after some events; `tombstones` are those of the user's rows.

    `raw_hash` is that of the current version's bytes, `data`, around the gaps of an erasure.
    """

    tombstones: Mapping[UUID, Row] = field(default_factory=dict)
    sequence: int = 0
    chain: bytes = NO_CHAIN
    version: int = 0
    data: bytes = b""
    raw_hash: str | None = None
    last: Row | None = None
    head_row: Row | None = None
    open_event_id: UUID | None = None

    @property
    def text(self) -> str:
        """The current text."""
        return decoded(self.data)

    @property
    def head_event_id(self) -> UUID | None:
        """The event that made the current text."""
        return self.head_row["event_id"] if self.head_row else None


def check_row(row: Row, tail: Tail, keys: Keyring, see: See | None) -> None:
    """Check the next event or annotation of a stream, and move its tail on."""
    if row["sequence"] != tail.sequence + 1:
        raise FaultFoundError(f"event {tail.sequence + 1} of the stream is missing", row)
    version = row["integrity_salt_version"]
    if version is not None and not keys.has(version):
        raise FaultFoundError(f"it was sealed with key version {version}, which is not among the keys", row)
    is_annotation = "annotation_id" in row
    holds = annotation_holds if is_annotation else chain_holds
    if not holds(row, tail.chain, keys):
        raise FaultFoundError("it was changed, or does not follow on the one before it", row)
    _check_parts(row, ANNOTATION_PARTS if is_annotation else EVENT_PARTS, tail, keys)
    if not is_annotation:
        _check_state(row, tail, keys)
        if see is not None:
            see(row, tail)
        if row["status"] == Status.COMMITTED and row["document_version"] is not None:
            _check_change(row, tail, keys)
    tail.sequence, tail.chain, tail.last = row["sequence"], bytes(row["chain_hash"]), row


def _check_parts(row: Row, parts: Parts, tail: Tail, keys: Keyring) -> None:
    if broken_parts(row, parts):
        raise FaultFoundError("its words were changed", row)
    if not erased_parts(row, parts):
        return
    tombstone = tail.tombstones.get(row["annotation_id" if parts is ANNOTATION_PARTS else "event_id"])
    if tombstone is None:
        raise FaultFoundError("its words are gone, and no erasure says so", row)
    if not tombstone_holds(tombstone, row, parts, keys):
        raise FaultFoundError("what an erasure left of it was changed", row)


def _check_state(row: Row, tail: Tail, keys: Keyring) -> None:
    was_written = row["status"] in (Status.WRITTEN, Status.COMMITTED)
    if not state_holds(row, keys) or row["after_hash"] != (row["intended_hash"] if was_written else None):
        raise FaultFoundError("its state was changed", row)
    if tail.open_event_id is not None:
        raise FaultFoundError("the event before it has not come to its end", tail.last)
    if row["status"] in (Status.PENDING, Status.WRITTEN):
        tail.open_event_id = row["event_id"]


def _check_change(row: Row, tail: Tail, keys: Keyring) -> None:
    splices = splices_of(row)
    if row["document_version"] != tail.version + 1 or splices is None:
        raise FaultFoundError(f"it is not version {tail.version + 1} of its document", row)
    try:
        tail.data = apply_to_bytes(tail.data, splices)
        text = tail.text
    except (GardenError, UnicodeDecodeError):
        raise FaultFoundError("its change does not fit the text before it", row) from None
    tail.raw_hash = raw_hash(tail.data)
    if tail.raw_hash != (row["intended_raw_hash"] or version_hash(row, tail)):
        raise FaultFoundError("its change does not lead to the text it names", row)
    _check_line(row, text, keys)
    tail.version, tail.head_row = row["document_version"], row


def version_hash(row: Row, tail: Tail) -> str | None:
    """The hash of the version that an event left around the gaps of an erasure."""
    found: str | None = tail.tombstones.get(row["event_id"], {}).get("version_hash")
    return found


def _check_line(row: Row, text: str, keys: Keyring) -> None:
    # It may have been erased with the other hashes, which the check of the parts found right.
    if row["line_hash"] is None:
        return
    if not line_holds(row, sealed_text(text, row["edit"]), keys):
        raise FaultFoundError("its line hash is not that of the content it leaves", row)


def check_head(head: Row | None, tail: Tail, keys: Keyring) -> None:
    """Check that a stream's head is the one that its events lead to."""
    if head is None:
        raise FaultFoundError("the stream has lost its head", tail.last, of_head=True)
    if not head_holds(head, keys):
        raise FaultFoundError("the stream's head was changed", None, of_head=True)
    known = (tail.sequence, tail.chain, tail.version, tail.head_event_id, tail.open_event_id)
    names = ("tail_sequence", "tail_chain_hash", "version", "head_event_id", "open_event_id")
    if known != tuple(head[name] for name in names):
        raise FaultFoundError(
            "the stream's events do not reach its head, or go past it", tail.last, of_head=True
        )


def sealed_text(text: str, edit: Mapping[str, Any] | None) -> str:
    """The content under a line hash: the edited section, if the event names its place, else all."""
    start, end = (edit or {}).get("sealed", (0, len(text)))
    return canonical(text[start:end])
