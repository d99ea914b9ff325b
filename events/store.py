"""The writers' side of the event log.

A change costs three round trips:

1. `document(...)` takes the lock, reads the head and looks for an earlier request of the same key.
2. `begin(...)` records the request and the pending event, durably.
3. `finish(...)` marks the event as written and committed, moves the head, answers the request and gives the
   lock back, durably. Then the event is numbered in the feed, without waiting for the disk.

`attempt(...)` leaves out the first: where this process knows the document's head, `begin` takes the lock, if
it is free and the head is still that one. This may only succeed; otherwise nothing happens.

The caller may work while 2 and 3 wait for the disk. `log` costs the first two. The lock belongs to the
database session, so it ends with the connection, and the connection ends with its process.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from uuid import UUID

from garden.events.database import DatabaseUnavailableError
from garden.events.idempotency import RequestIdentity
from garden.events.keyring import Keyring
from garden.events.known_heads import FoundHead, KnownHeads
from garden.events.lock_holder import report_holder
from garden.events.pool import Pool, PooledConnection, translate_errors
from garden.events.records import JOURNAL, Caller, Head, Statement
from garden.events.rows import head_of, last_change_of
from garden.events.statements import statements
from garden.events.stream import LockedStream
from garden.events.turns import Turns


@dataclass(frozen=True, slots=True)
class LogOutcome:
    """The event that a logged statement became, or was added to as an annotation."""

    event_id: UUID
    is_annotation: bool = False
    replayed: bool = False


class EventStore:
    """The event log for writers: opens streams, each under its lock."""

    def __init__(
        self, pool: Pool, keys: Callable[[], Keyring], now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._pool = pool
        self.turns = Turns(pool.lock_seconds)
        self._keys = keys
        self._now = now
        self._known = KnownHeads()

    @contextmanager
    def attempt(
        self, caller: Caller, path: str, request: RequestIdentity | None
    ) -> Iterator[LockedStream | None]:
        """Open a document as this process knows it, without its lock; None where that would not succeed.

        Another thread at the document would take the lock meanwhile, and a connection is not waited for.
        """
        found, keys = self._known.find(caller.user_id, path), self._keys()
        lock = lock_number(caller.user_id, path)
        is_again = found and request and request.key == found.last_key
        if found is None or is_again or self.turns.members(lock):
            yield None
            return
        with self.turns.turn(lock):
            connection = self._pool.take_idle()
            if connection is None:
                yield None
                return
            stream = LockedStream(
                connection, found, lock, caller, path, request, keys, self._now, is_tried=True
            )
            try:
                yield stream
            finally:
                self._end(stream)

    @contextmanager
    def document(
        self, caller: Caller, path: str, request: RequestIdentity | None = None
    ) -> Iterator[LockedStream]:
        """Take a document's lock, read its head and any earlier request, and release the lock on leaving."""
        with self.turns.turn(lock_number(caller.user_id, path)):
            try:
                stream = self._connect_and_lock(caller, path, request)
            except DatabaseUnavailableError:
                # A restart of the server has cut every idle connection; a new one may work.
                self._pool.drop_idle_connections()
                stream = self._connect_and_lock(caller, path, request)
            try:
                with stream.hold():
                    yield stream
            finally:
                self._end(stream)

    def _end(self, stream: LockedStream) -> None:
        """Give back a stream's lock and connection, and keep what is known of the document."""
        try:
            stream.leave()
        finally:
            self._known.keep(stream.caller.user_id, stream.path, stream.known)
            self._pool.give_back(stream.connection)

    @contextmanager
    def lock_second(
        self, held: LockedStream, path: str, request: RequestIdentity | None = None
    ) -> Iterator[LockedStream]:
        """Take another stream's lock as well, on the connection that holds the first one.

        A second connection might never come free: all of them may be waiting for the first lock. Callers lock
        two documents in the order of their paths, so that no two of them wait for each other.
        """
        with self._lock(held.connection, held.caller, path, request).hold() as stream:
            yield stream

    def log(
        self,
        caller: Caller,
        statement: Statement,
        request: RequestIdentity | None = None,
        *,
        about: UUID | None = None,
        check: Callable[[LockedStream], None] | None = None,
    ) -> LogOutcome:
        """Record a statement that changes no document, or annotate the event that it is `about`.

        `check` may refuse a statement that is not a replay.
        """
        with self.document(caller, JOURNAL, request) as journal:
            earlier = _logged_earlier(journal)
            if earlier is not None:
                return earlier
            if check is not None:
                check(journal)
            if about is not None:
                journal.annotate(about, statement)
                return LogOutcome(about, is_annotation=True)
            return LogOutcome(journal.record(statement).event_id)

    def find_logged(self, caller: Caller, request: RequestIdentity) -> LogOutcome | None:
        """Find the outcome of a statement that was recorded before."""
        with self.document(caller, JOURNAL, request) as journal:
            return _logged_earlier(journal)

    def number_rest(self, user_id: str) -> int:
        """Number in the feed what a crash left without a number; returns how many streams had such events."""
        [row] = self._pool.fetch("service", "store", "number_rest", {"user_id": user_id})
        return int(row["streams"])

    def _connect_and_lock(self, caller: Caller, path: str, request: RequestIdentity | None) -> LockedStream:
        connection = self._pool.take()
        try:
            return self._lock(connection, caller, path, request)
        except BaseException:
            self._pool.give_back(connection)
            raise

    def _lock(
        self, connection: PooledConnection, caller: Caller, path: str, request: RequestIdentity | None
    ) -> LockedStream:
        keys = self._keys()
        lock = lock_number(caller.user_id, path)
        values = {
            "user_id": caller.user_id,
            "path": path,
            "lock": lock,
            "key": request.key if request else None,
            "now": self._now(),
        }
        try:
            with translate_errors(), report_holder(connection, lock):
                found = connection.ask(statements("store")["open_stream"], values)
                row = found.fetchone() or {}
            head = Head() if row["version"] is None else head_of(row)
            known = FoundHead(head, last_change_of(row), row["damage"], row["has_erased"])
            return LockedStream(connection, known, lock, caller, path, request, keys, self._now, row=row)
        except BaseException:
            # The lock may have been taken before the rest failed; it goes with the connection.
            connection.close()
            raise


def _logged_earlier(journal: LockedStream) -> LogOutcome | None:
    """The outcome of the same request; without a key only the journal's newest entry can be sent again."""
    if journal.request is not None and journal.request.only_while_newest:
        journal.forget_earlier(unless_made_at=journal.head.updated_at)
    if journal.earlier is None:
        return None
    is_annotation = bool((journal.earlier.response or {}).get("annotated"))
    return LogOutcome(journal.earlier.event_id, is_annotation, replayed=True)


def lock_number(user_id: str, path: str) -> int:
    """The number of a stream's lock. Two streams that share one, which is rare, wait for each other."""
    digest = blake2b(f"{user_id}/{path}".encode(), digest_size=8, person=b"garden.stream").digest()
    return int.from_bytes(digest, "big", signed=True)
