"""Verifies the event log: every chain, from its first event to the head."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import merge
from typing import Any
from uuid import UUID

from garden.events.cross_checks import (
    faults_of_erasures,
    faults_of_feed,
    faults_of_stored_requests,
    faults_of_tokens,
)
from garden.events.erased_rows import tombstone_holds
from garden.events.erasures import Erasure, erasure_of
from garden.events.keyring import Keyring
from garden.events.parts import ANNOTATION_PARTS, EVENT_PARTS, Parts, broken_parts, erased_parts
from garden.events.pool import NotRecordableError
from garden.events.reader import EventReader, ReaderSnapshot
from garden.events.records import JOURNAL, NO_CHAIN
from garden.events.rows import Row, splices_of
from garden.events.saga import Status
from garden.events.seals import annotation_holds, chain_holds, head_holds, line_holds, state_holds
from garden.grammar.canonical import canonical, decoded, raw_hash
from garden.grammar.errors import GardenError
from garden.grammar.splice import apply_to_bytes

FEED = "feed"
STORED_REQUESTS = "stored requests"
TOKENS = "access tokens"
ERASURES = "erasures"

See = Callable[[Row, "Tail"], None]
"""Called with each event that verifies, and with the state of its stream before it."""


@dataclass(frozen=True, slots=True)
class ChainFault:
    """A fault of a stream; `of_head` if its events verify and only the head does not.

    Faults outside the chains have `FEED`, `STORED_REQUESTS`, `TOKENS` or `ERASURES` in place of a stream.
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


class Verifier:
    """Verifies the events of one user after another."""

    def __init__(self, reader: EventReader, keys: Callable[[], Keyring]) -> None:
        self._reader = reader
        self._keys = keys

    @contextmanager
    def open(self, user_id: str) -> Iterator["UserRows"]:
        """Read a user's rows as they are at this moment, to check them stream by stream."""
        with self._reader.snapshot(user_id) as snapshot:
            # The keys are read after the snapshot: a key is stored before anything is sealed with it.
            keys = self._keys()
            heads = {row["path"]: row for row in snapshot.fetch("heads", {})}
            yield UserRows(snapshot, keys, heads, _tombstones(snapshot))

    def check_user(self, user_id: str) -> Verdict:
        """Check every stream of a user and report the first fault of each."""
        try:
            return self._check_streams(user_id)
        except NotRecordableError:
            return Verdict(0, (unrecordable_fault(user_id),))

    def _check_streams(self, user_id: str) -> Verdict:
        checked, faults = 0, []
        with self.open(user_id) as rows:
            for stream in rows.streams():
                tail, fault = rows.check_stream(stream)
                checked += tail.sequence
                faults += [fault] if fault else []
            erasures = rows.erasures()
            faults += rows.cross_faults()
        return Verdict(checked, tuple(faults), erasures)

    def follow_stream(self, user_id: str, stream: str) -> Tail | ChainFault:
        """Check the events of one stream to their end, without its head."""
        with self.open(user_id) as rows:
            tail, fault = rows.follow(stream)
        return fault or tail


@dataclass(frozen=True, slots=True)
class UserRows:
    """One user's rows at one moment."""

    snapshot: ReaderSnapshot
    keys: Keyring
    heads: Mapping[str, Row]
    tombstones: Mapping[UUID, Row]

    def streams(self) -> Sequence[str]:
        """The streams that have a head or an event; the journal comes first."""
        return [row["path"] for row in self.snapshot.fetch("streams", {})]

    def check_stream(
        self, stream: str, tail: Tail | None = None, see: See | None = None
    ) -> tuple[Tail, ChainFault | None]:
        """Check a stream from its beginning, or from `tail` on, to its head."""
        tail, fault = self.follow(stream, tail, see)
        if fault is None:
            try:
                _check_head(self.heads.get(stream), tail, self.keys)
            except _FaultFoundError as found:
                fault = _fault(stream, found)
        return tail, fault

    def follow(
        self, stream: str, tail: Tail | None = None, see: See | None = None
    ) -> tuple[Tail, ChainFault | None]:
        """Check the events of a stream to their end, without its head."""
        tail = tail or Tail(self.tombstones)
        try:
            for row in _rows(self.snapshot, stream, tail.sequence):
                _check_row(row, tail, self.keys, see)
        except _FaultFoundError as found:
            return tail, _fault(stream, found)
        return tail, None

    def erasures(self) -> tuple[Erasure, ...]:
        """What was erased, or is being erased."""
        return tuple(map(erasure_of, self.snapshot.fetch("erasures", {})))

    def cross_faults(self) -> Sequence[ChainFault]:
        """Compare feed, stored requests, tokens and erasures with the events; nothing can be read after."""
        return list(_cross_faults(self.snapshot, self.keys))


def unrecordable_fault(user_id: str) -> ChainFault:
    """The fault of a user whose rows can't even be read."""
    return ChainFault(f"users/{user_id}", None, None, "it holds a value that can't have been recorded")


def _tombstones(snapshot: ReaderSnapshot) -> dict[UUID, Row]:
    return {row["row_id"]: row for row in snapshot.fetch("erased_rows", {})}


def _cross_faults(snapshot: ReaderSnapshot, keys: Keyring) -> Iterator[ChainFault]:
    for erasure_id, message in faults_of_erasures(snapshot, keys):
        yield ChainFault(ERASURES, erasure_id, None, message)
    snapshot.act_as_service()
    checks = {FEED: faults_of_feed, STORED_REQUESTS: faults_of_stored_requests, TOKENS: faults_of_tokens}
    for name, check in checks.items():
        for event_id, message in check(snapshot, keys):
            yield ChainFault(name, event_id, None, message)


def _fault(stream: str, found: _FaultFoundError) -> ChainFault:
    row = found.row or {}
    return ChainFault(stream, row.get("event_id"), row.get("sequence"), found.message, found.of_head)


def _rows(snapshot: ReaderSnapshot, stream: str, after: int) -> Iterator[Row]:
    events = snapshot.rows("chain", {"stream": stream}, after)
    if stream != JOURNAL:
        return events
    return merge(events, snapshot.rows("annotation_chain", {}, after), key=lambda row: row["sequence"])


def _check_row(row: Row, tail: Tail, keys: Keyring, see: See | None) -> None:
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
        if see is not None:
            see(row, tail)
        if row["status"] == Status.COMMITTED and row["document_version"] is not None:
            _check_change(row, tail, keys)
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


def _check_change(row: Row, tail: Tail, keys: Keyring) -> None:
    splices = splices_of(row)
    if row["document_version"] != tail.version + 1 or splices is None:
        raise _FaultFoundError(f"it is not version {tail.version + 1} of its document", row)
    try:
        tail.data = apply_to_bytes(tail.data, splices)
        text = tail.text
    except (GardenError, UnicodeDecodeError):
        raise _FaultFoundError("its change does not fit the text before it", row) from None
    tail.raw_hash = raw_hash(tail.data)
    if tail.raw_hash != (
        row["intended_raw_hash"] or tail.tombstones.get(row["event_id"], {}).get("version_hash")
    ):
        raise _FaultFoundError("its change does not lead to the text it names", row)
    _check_line(row, text, keys)
    tail.version, tail.head_row = row["document_version"], row


def _check_line(row: Row, text: str, keys: Keyring) -> None:
    # It may have been erased with the other hashes, which the check of the parts found right.
    if row["line_hash"] is None:
        return
    if not line_holds(row, sealed_text(text, row["edit"]), keys):
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
