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
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any
from uuid import UUID

from events.database import DatabaseUnavailableError
from events.idempotency import Request, earlier_of
from events.keyring import Keyring
from events.pool import Pool, PooledConnection, translated
from events.records import JOURNAL, Caller, Head, Statement
from events.rows import head_of
from events.statements import statements
from events.stream import LockedStream


@dataclass(frozen=True, slots=True)
class Logged:
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
        self._keys = keys
        self._now = now

    @contextmanager
    def document(self, caller: Caller, path: str, request: Request | None = None) -> Iterator[LockedStream]:
        """Hold a document's lock; what stands in the account of it comes along."""
        with self._opened(_Opening(caller, path, request)) as (stream, _):
            yield stream

    def log(self, caller: Caller, statement: Statement, request: Request | None = None) -> Logged:
        """Record what is no change; where it speaks of a write already recorded, as an annotation of that."""
        opening = _Opening(caller, JOURNAL, request, speaks_of=statement.path)
        with self._opened(opening) as (journal, spoken_of):
            if journal.earlier is not None:
                return Logged(journal.earlier.event_id, replayed=True)
            if spoken_of is not None:
                journal.annotate(spoken_of, statement)
                return Logged(spoken_of, is_annotation=True)
            return Logged(journal.record(statement).event_id)

    @contextmanager
    def _opened(self, opening: "_Opening") -> Iterator[tuple[LockedStream, UUID | None]]:
        connection, stream, spoken_of = self._open(opening)
        try:
            with translated():
                yield stream, spoken_of
                stream.release()
        except BaseException:
            # Whatever went wrong, the lock must not stay behind on a connection that others will use.
            connection.close()
            raise
        finally:
            self._pool.give_back(connection)

    def _open(self, opening: "_Opening") -> tuple[PooledConnection, LockedStream, UUID | None]:
        """Take the first round trip, and again where a restart of the server had cut the connection."""
        try:
            return self._first_round_trip(opening)
        except DatabaseUnavailableError:
            self._pool.drop_dead_connections()
            return self._first_round_trip(opening)

    def _first_round_trip(self, opening: "_Opening") -> tuple[PooledConnection, LockedStream, UUID | None]:
        connection = self._pool.take()
        try:
            with translated():
                return connection, *self._look_up(connection, opening)
        except BaseException:
            connection.close()
            self._pool.give_back(connection)
            raise

    def _look_up(self, connection: PooledConnection, opening: "_Opening") -> tuple[LockedStream, UUID | None]:
        sql = statements("store")
        values = {**opening.values(), "now": self._now()}
        row = connection.execute(sql["open_stream"], values, prepare=True).fetchone() or {}
        stream = LockedStream(
            connection,
            lock=values["lock"],
            caller=opening.caller,
            path=opening.path,
            head=Head() if row["version"] is None else head_of(row),
            request=opening.request,
            earlier=None if opening.request is None else earlier_of(opening.request, row),
            keys=self._keys(),
            now=self._now,
        )
        return stream, _write_spoken_of(connection, values) if opening.may_annotate else None


@dataclass(frozen=True, slots=True)
class _Opening:
    """What the first round trip asks for."""

    caller: Caller
    path: str
    request: Request | None
    speaks_of: str | None = None

    @property
    def may_annotate(self) -> bool:
        ids = (self.caller.tool_call_id, self.caller.transaction_id, self.caller.agent_action_id)
        return self.speaks_of is not None and any(each is not None for each in ids)

    def values(self) -> dict[str, Any]:
        caller = self.caller
        return {
            "user_id": caller.user_id,
            "path": self.path,
            "speaks_of": self.speaks_of,
            "lock": lock_number(caller.user_id, self.path),
            "key": self.request.key if self.request else None,
            "tool_call_id": caller.tool_call_id,
            "transaction_id": caller.transaction_id,
            "agent_action_id": caller.agent_action_id,
        }


def _write_spoken_of(connection: PooledConnection, values: dict[str, Any]) -> UUID | None:
    """Find the newest write that the caller's ids and the path name; a round trip that only they cost."""
    with connection.pipeline():
        connection.execute(statements("store")["act_for"], values)
        # Planned anew each time: which index leads to the write depends on which ids there are.
        found = connection.execute(statements("store")["write_it_speaks_of"], values, prepare=False)
    row = found.fetchone()
    return row["event_id"] if row else None


def lock_number(user_id: str, path: str) -> int:
    """Give the number of a stream's lock; that two streams share one is rare, and costs them a wait."""
    digest = blake2b(f"{user_id}/{path}".encode(), digest_size=8, person=b"garden.stream").digest()
    return int.from_bytes(digest, "big", signed=True)
