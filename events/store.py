"""The write side of the account.

A change costs three round trips:

1. `document(...)`: take the lock, read the head, look for an earlier request of the same key.
2. `begin(...)`: remember the request and the pending event, durably.
3. `finish(...)`: written, committed, head moved, request answered, lock given back. This commit need not wait
   for the disk: after a crash the pending event is enough to come to the same end.

What is only said (`log`) costs the first two. The lock is the session's: it dies with the connection, and the
connection with its holder.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from uuid import UUID

from garden.events.database import DatabaseUnavailableError
from garden.events.idempotency import RequestIdentity, earlier_request
from garden.events.keyring import Keyring
from garden.events.pool import Pool, PooledConnection, translate_errors
from garden.events.records import JOURNAL, Caller, Head, Statement
from garden.events.rows import Row, head_of
from garden.events.statements import statements
from garden.events.stream import LockedStream
from garden.events.turns import Turns


@dataclass(frozen=True, slots=True)
class LogOutcome:
    """What became of something said: the event it is now, or the one it was added to."""

    event_id: UUID
    is_annotation: bool = False
    replayed: bool = False


class EventStore:
    """The account, as those who write it see it."""

    def __init__(
        self, pool: Pool, keys: Callable[[], Keyring], now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._pool = pool
        self.turns = Turns(pool.lock_seconds)
        self._keys = keys
        self._now = now

    @contextmanager
    def document(
        self, caller: Caller, path: str, request: RequestIdentity | None = None
    ) -> Iterator[LockedStream]:
        """Hold a document's lock; what stands in the account of it comes along."""
        with self._opened(_Opening(caller, path, request)) as stream:
            yield stream

    @contextmanager
    def lock_second(
        self, held: LockedStream, path: str, request: RequestIdentity | None = None
    ) -> Iterator[LockedStream]:
        """Hold another stream's lock as well, on the connection that holds the first one.

        All connections may be in the hands of those who wait for the first lock, so that to wait for another
        would be to wait for oneself. Whoever takes two locks of documents takes them in the paths' order.
        """
        opening = _Opening(held.caller, path, request)
        try:
            with translate_errors():
                stream, row = self._locked(held.connection, opening)
        except BaseException:
            # The lock may have been taken before the rest of the round trip failed; nobody knows of it then.
            held.connection.close()
            raise
        with _held(stream, opening, row):
            yield stream

    def log(
        self,
        caller: Caller,
        statement: Statement,
        request: RequestIdentity | None = None,
        *,
        check: Callable[[], None] | None = None,
    ) -> LogOutcome:
        """Record what is no change; where it speaks of a write already recorded, as an annotation of that.

        `check` may still refuse what was not recorded before.
        """
        with self._opened(_Opening(caller, JOURNAL, request)) as journal:
            if journal.earlier is not None:
                return LogOutcome(journal.earlier.event_id, replayed=True)
            if check is not None:
                check()
            spoken_of = journal.find_write_by_caller(statement.path) if statement.path else None
            if spoken_of is not None:
                journal.annotate(spoken_of, statement)
                return LogOutcome(spoken_of, is_annotation=True)
            return LogOutcome(journal.record(statement).event_id)

    @contextmanager
    def _opened(self, opening: "_Opening") -> Iterator[LockedStream]:
        with self.turns.turn(lock_number(opening.caller.user_id, opening.path)):
            stream, row = self._open(opening)
            try:
                with _held(stream, opening, row):
                    yield stream
            finally:
                self._pool.give_back(stream.connection)

    def _open(self, opening: "_Opening") -> tuple[LockedStream, Row]:
        """Take the first round trip, and again where a restart of the server had cut the connection."""
        try:
            return self._first_round_trip(opening)
        except DatabaseUnavailableError:
            self._pool.drop_idle_connections()
            return self._first_round_trip(opening)

    def _first_round_trip(self, opening: "_Opening") -> tuple[LockedStream, Row]:
        connection = self._pool.take()
        try:
            with translate_errors():
                return self._locked(connection, opening)
        except BaseException:
            connection.close()
            self._pool.give_back(connection)
            raise

    def _locked(self, connection: PooledConnection, opening: "_Opening") -> tuple[LockedStream, Row]:
        keys = self._keys()
        lock = lock_number(opening.caller.user_id, opening.path)
        values = {
            "user_id": opening.caller.user_id,
            "path": opening.path,
            "lock": lock,
            "key": opening.request.key if opening.request else None,
            "now": self._now(),
        }
        found = connection.execute(statements("store")["open_stream"], values, prepare=True)
        row = found.fetchone() or {}
        stream = LockedStream(
            connection,
            lock=lock,
            caller=opening.caller,
            path=opening.path,
            head=Head() if row["version"] is None else head_of(row),
            damage=row["damage"],
            request=opening.request,
            keys=keys,
            now=self._now,
        )
        return stream, row


@dataclass(frozen=True, slots=True)
class _Opening:
    """What the first round trip asks for."""

    caller: Caller
    path: str
    request: RequestIdentity | None


@contextmanager
def _held(stream: LockedStream, opening: _Opening, row: Row) -> Iterator[None]:
    """Hold a lock that was taken, and give it back."""
    try:
        with translate_errors():
            stream.earlier = earlier_request(opening.request, row) if opening.request else None
            yield
    finally:
        try:
            # What was done is done, or is told as it is; the lock goes with the connection then.
            with suppress(DatabaseUnavailableError):
                stream.release()
        finally:
            # A lock that could not be given back must not stay behind on a connection that others will use.
            if stream.holds_lock:
                stream.connection.close()


def lock_number(user_id: str, path: str) -> int:
    """Give the number of a stream's lock; that two streams share one is rare, and costs them a wait."""
    digest = blake2b(f"{user_id}/{path}".encode(), digest_size=8, person=b"garden.stream").digest()
    return int.from_bytes(digest, "big", signed=True)
