"""Verifies the event log: every chain, from its first event to the head."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import merge
from typing import Any
from uuid import UUID

from garden.events.cross_checks import (
    faults_of_erasures,
    faults_of_feed,
    faults_of_kept_texts,
    faults_of_stored_requests,
    faults_of_tokens,
)
from garden.events.erased_rows import tombstone_holds
from garden.events.erasures import Erasure, erasure_of
from garden.events.keyring import Keyring
from garden.events.parts import ANNOTATION_PARTS, EVENT_PARTS, Parts, broken_parts, erased_parts
from garden.events.pool import NotRecordableError
from garden.events.reader import EventReader
from garden.events.records import JOURNAL, NO_CHAIN
from garden.events.rows import Row, splices_of
from garden.events.saga import Status
from garden.events.seals import annotation_holds, chain_holds, head_holds, line_holds, state_holds
from garden.events.snapshots import ReaderSnapshot
from garden.grammar.canonical import canonical, encoded, raw_hash
from garden.grammar.errors import GardenError
from garden.grammar.splice import apply_splices

FEED = "feed"
STORED_REQUESTS = "stored requests"
TOKENS = "access tokens"
ERASURES = "erasures"
KEPT_TEXTS = "kept texts"


@dataclass(frozen=True, slots=True)
class ChainFault:
    """A fault of a stream; `of_head` if its events verify and only the head does not.

    Faults outside the chains have `FEED`, `STORED_REQUESTS`, `TOKENS`, `ERASURES` or `KEPT_TEXTS` in place of
    a stream.
    """

    stream: str
    event_id: UUID | None
    sequence: int | None
    message: str
    of_head: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of verifying one user's events; `erasures` lists what was erased or is being erased."""

    events: int
    faults: tuple[ChainFault, ...]
    erasures: tuple[Erasure, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether everything verifies."""
        return not self.faults


class _FaultFoundError(Exception):
    """Stops the check of a stream at its first fault."""

    def __init__(self, message: str, row: Row | None, *, of_head: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.of_head = of_head


@dataclass(slots=True)
class Tail:
    """The state of a stream's check after some events; `tombstones` are those of the user's rows."""

    tombstones: Mapping[UUID, Row] = field(default_factory=dict)
    sequence: int = 0
    chain: bytes = NO_CHAIN
    version: int = 0
    text: str = ""
    last: Row | None = None
    head_row: Row | None = None
    open_event_id: UUID | None = None

    @property
    def head_event_id(self) -> UUID | None:
        """The event that made the current text."""
        return self.head_row["event_id"] if self.head_row else None


class Verifier:
    """Verifies the events of one user after another."""

    def __init__(self, reader: EventReader, keys: Callable[[], Keyring]) -> None:
        self._reader = reader
        self._keys = keys

    def check_user(self, user_id: str) -> Verdict:
        """Check every stream of a user and report the first fault of each."""
        try:
            return self._check_streams(user_id)
        except NotRecordableError:
            fault = ChainFault(
                f"users/{user_id}", None, None, "it holds a value that can't have been recorded"
            )
            return Verdict(0, (fault,))

    def _check_streams(self, user_id: str) -> Verdict:
        checked, faults = 0, []
        with self._reader.snapshot(user_id) as snapshot:
            # The keys are read after the snapshot: a key is stored before anything is sealed with it.
            keys = self._keys()
            heads = {row["path"]: row for row in snapshot.fetch("heads", {})}
            tombstones = _tombstones(snapshot)
            for stream in (row["path"] for row in snapshot.fetch("streams", {})):
                count, fault = _check_stream(snapshot, stream, heads.get(stream), Tail(tombstones), keys)
                checked += count
                faults += [fault] if fault else []
            erasures = snapshot.fetch("erasures", {})
            faults += _cross_faults(snapshot, keys)
        return Verdict(checked, tuple(faults), tuple(map(erasure_of, erasures)))

    def follow_stream(self, user_id: str, stream: str) -> Tail | ChainFault:
        """Check the events of one stream to their end, without its head."""
        with self._reader.snapshot(user_id) as snapshot:
            keys = self._keys()
            tail = Tail(_tombstones(snapshot))
            try:
                _follow(snapshot, stream, tail, keys)
            except _FaultFoundError as found:
                return _fault(stream, found)
        return tail


def _tombstones(snapshot: ReaderSnapshot) -> dict[UUID, Row]:
    return {row["row_id"]: row for row in snapshot.fetch("erased_rows", {})}


def _cross_faults(snapshot: ReaderSnapshot, keys: Keyring) -> Iterator[ChainFault]:
    for erasure_id, message in faults_of_erasures(snapshot, keys):
        yield ChainFault(ERASURES, erasure_id, None, message)
    for event_id, message in faults_of_kept_texts(snapshot, keys):
        yield ChainFault(KEPT_TEXTS, event_id, None, message)
    snapshot.act_as_service()
    checks = {FEED: faults_of_feed, STORED_REQUESTS: faults_of_stored_requests, TOKENS: faults_of_tokens}
    for name, check in checks.items():
        for event_id, message in check(snapshot, keys):
            yield ChainFault(name, event_id, None, message)


def _check_stream(
    snapshot: ReaderSnapshot, stream: str, head: Row | None, tail: Tail, keys: Keyring
) -> tuple[int, ChainFault | None]:
    try:
        _follow(snapshot, stream, tail, keys)
        _check_head(head, tail, keys)
    except _FaultFoundError as found:
        return tail.sequence, _fault(stream, found)
    return tail.sequence, None


def _fault(stream: str, found: _FaultFoundError) -> ChainFault:
    row = found.row or {}
    return ChainFault(stream, row.get("event_id"), row.get("sequence"), found.message, found.of_head)


def _follow(snapshot: ReaderSnapshot, stream: str, tail: Tail, keys: Keyring) -> None:
    for row in _rows(snapshot, stream):
        _check_row(row, tail, keys)


def _rows(snapshot: ReaderSnapshot, stream: str) -> Iterator[Row]:
    events = snapshot.rows("chain", {"stream": stream})
    if stream != JOURNAL:
        return events
    return merge(events, snapshot.rows("annotation_chain", {}), key=lambda row: row["sequence"])


def _check_row(row: Row, tail: Tail, keys: Keyring) -> None:
    if row["sequence"] != tail.sequence + 1:
        raise _FaultFoundError(f"event {tail.sequence + 1} of the stream is missing", row)
    version = row["integrity_salt_version"]
    if version is not None and not keys.has(version):
        raise _FaultFoundError(f"it was sealed with key version {version}, which is not among the keys", row)
    is_annotation = "annotation_id" in row
    holds = annotation_holds if is_annotation else chain_holds
    if not holds(row, tail.chain, keys):
        raise _FaultFoundError("it was changed, or does not follow on the one before it", row)
    _check_parts(row, ANNOTATION_PARTS if is_annotation else EVENT_PARTS, tail, keys)
    if not is_annotation:
        _check_state(row, tail, keys)
    tail.sequence, tail.chain, tail.last = row["sequence"], bytes(row["chain_hash"]), row


def _check_parts(row: Row, parts: Parts, tail: Tail, keys: Keyring) -> None:
    if broken_parts(row, parts):
        raise _FaultFoundError("its words were changed", row)
    if not erased_parts(row, parts):
        return
    tombstone = tail.tombstones.get(row["annotation_id" if parts is ANNOTATION_PARTS else "event_id"])
    if tombstone is None:
        raise _FaultFoundError("its words are gone, and no erasure says so", row)
    if not tombstone_holds(tombstone, row, parts, keys):
        raise _FaultFoundError("what an erasure left of it was changed", row)


def _check_state(row: Row, tail: Tail, keys: Keyring) -> None:
    was_written = row["status"] in (Status.WRITTEN, Status.COMMITTED)
    if not state_holds(row, keys) or row["after_hash"] != (row["intended_hash"] if was_written else None):
        raise _FaultFoundError("its state was changed", row)
    if tail.open_event_id is not None:
        raise _FaultFoundError("the event before it has not come to its end", tail.last)
    if row["status"] in (Status.PENDING, Status.WRITTEN):
        tail.open_event_id = row["event_id"]
    if row["status"] == Status.COMMITTED and row["document_version"] is not None:
        _check_change(row, tail, keys)


def _check_change(row: Row, tail: Tail, keys: Keyring) -> None:
    splices = splices_of(row)
    if row["document_version"] != tail.version + 1 or splices is None:
        raise _FaultFoundError(f"it is not version {tail.version + 1} of its document", row)
    try:
        tail.text = apply_splices(tail.text, splices)
    except (GardenError, UnicodeDecodeError):
        raise _FaultFoundError("its change does not fit the text before it", row) from None
    tombstone = tail.tombstones.get(row["event_id"], {})
    if raw_hash(encoded(tail.text)) != (row["intended_raw_hash"] or tombstone.get("version_hash")):
        raise _FaultFoundError("its change does not lead to the text it names", row)
    _check_line(row, tail, keys)
    tail.version, tail.head_row = row["document_version"], row


def _check_line(row: Row, tail: Tail, keys: Keyring) -> None:
    # It may have been erased with the other hashes, which the check of the parts found right.
    if row["line_hash"] is None:
        return
    if not line_holds(row, sealed_text(tail.text, row["edit"]), keys):
        raise _FaultFoundError("its line hash is not that of the content it leaves", row)


def _check_head(head: Row | None, tail: Tail, keys: Keyring) -> None:
    if head is None:
        raise _FaultFoundError("the stream has lost its head", tail.last, of_head=True)
    if not head_holds(head, keys):
        raise _FaultFoundError("the stream's head was changed", None, of_head=True)
    known = (tail.sequence, tail.chain, tail.version, tail.head_event_id, tail.open_event_id)
    names = ("tail_sequence", "tail_chain_hash", "version", "head_event_id", "open_event_id")
    if known != tuple(head[name] for name in names):
        raise _FaultFoundError(
            "the stream's events do not reach its head, or go past it", tail.last, of_head=True
        )


def sealed_text(text: str, edit: Mapping[str, Any] | None) -> str:
    """The content under a line hash: the edited section, if the event names its place, else all."""
    start, end = (edit or {}).get("sealed", (0, len(text)))
    return canonical(text[start:end])
