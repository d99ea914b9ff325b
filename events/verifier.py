"""Verifies the event log: every chain, from its first event to the head."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from uuid import UUID

from garden.events.cross_checks import (
    faults_of_erasures,
    faults_of_feed,
    faults_of_kept_texts,
    faults_of_stored_requests,
    faults_of_tokens,
)
from garden.events.erasures import Erasure, erasure_of
from garden.events.keyring import Keyring
from garden.events.pool import NotRecordableError
from garden.events.reader import EventReader
from garden.events.records import JOURNAL
from garden.events.row_checks import FaultFoundError, See, Tail, check_head, check_row, version_hash
from garden.events.rows import Row
from garden.events.snapshots import ReaderSnapshot
from garden.events.version_texts import VersionTexts
from garden.grammar.canonical import raw_hash
from garden.grammar.errors import GardenError

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
                check_head(self.heads.get(stream), tail, self.keys)
            except FaultFoundError as found:
                fault = _fault(stream, found)
        return tail, fault

    def follow(
        self, stream: str, tail: Tail | None = None, see: See | None = None
    ) -> tuple[Tail, ChainFault | None]:
        """Check the events of a stream to their end, without its head."""
        tail = tail or Tail(self.tombstones)
        try:
            for row in self.snapshot.stream_rows(stream, tail.sequence):
                check_row(row, tail, self.keys, see)
        except FaultFoundError as found:
            return tail, _fault(stream, found)
        return tail, None

    def tail_at(self, stream: str, sequence: int) -> Tail:
        """The state of a stream after an event that is known to hold.

        It is that of the beginning if the rows up to there do not give one: then all of them are checked.
        """
        last = _row_at(self.snapshot, stream, sequence)
        if last is None:
            return Tail(self.tombstones)
        tail = Tail(self.tombstones, sequence, bytes(last["chain_hash"]), last=last)
        changes = self.snapshot.fetch("newest_change", {"stream": stream, "sequence": sequence})
        for row in changes:
            tail.version, tail.head_row = row["document_version"], row
            tail.raw_hash = row["intended_raw_hash"] or version_hash(row, tail)
            with suppress(GardenError):
                tail.data = bytes(VersionTexts(self.snapshot, stream).at(tail.version))
        fits = not changes or raw_hash(tail.data) == tail.raw_hash
        return tail if fits else Tail(self.tombstones)

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
    for event_id, message in faults_of_kept_texts(snapshot, keys):
        yield ChainFault(KEPT_TEXTS, event_id, None, message)
    snapshot.act_as_service()
    checks = {FEED: faults_of_feed, STORED_REQUESTS: faults_of_stored_requests, TOKENS: faults_of_tokens}
    for name, check in checks.items():
        for event_id, message in check(snapshot, keys):
            yield ChainFault(name, event_id, None, message)


def _fault(stream: str, found: FaultFoundError) -> ChainFault:
    row = found.row or {}
    return ChainFault(stream, row.get("event_id"), row.get("sequence"), found.message, found.of_head)


def _row_at(snapshot: ReaderSnapshot, stream: str, sequence: int) -> Row | None:
    values = {"stream": stream, "after": sequence - 1, "limit": 1}
    found = snapshot.fetch("chain", values)
    if stream == JOURNAL:
        found += snapshot.fetch("annotation_chain", values)
    return next((row for row in found if row["sequence"] == sequence), None)
