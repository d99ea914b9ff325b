"""What was settled, in an order that can be resumed, and the notices that there is more of it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from garden.events.database import Connection, connection
from garden.events.pool import Pool, PooledConnection, translate_errors
from garden.events.statements import statements
from garden.grammar.errors import GardenError

BATCH_ENTRIES_DEFAULT = 100
BATCH_ENTRIES_MAX = 500
# A listener only ever waits: without these it would wait forever on a connection that has died unnoticed.
_LISTENING: dict[str, Any] = {
    "application_name": "memory-garden-feed",
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
_POSITION = re.compile(r"(0|[1-9][0-9]{0,17})-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")


class InvalidPositionError(GardenError):
    """A position that no batch of this database gave, or a batch of no possible size."""

    code = "invalid_input"


@dataclass(frozen=True, slots=True)
class Position:
    """A place in one user's feed: everything up to it is known."""

    number: int
    event_id: UUID

    def __str__(self) -> str:
        return f"{self.number}-{self.event_id}"

    @classmethod
    def parse(cls, text: str) -> "Position":
        """Read a position that a batch or an entry gave."""
        match = _POSITION.fullmatch(text)
        if match is None:
            raise InvalidPositionError(
                "The position is not one that the feed gave.",
                hint="Use the last entry's position unchanged, or begin without one.",
            )
        return cls(int(match[1]), UUID(match[2]))


BEGINNING = Position(0, UUID(int=0))


@dataclass(frozen=True, slots=True)
class Entry:
    """Something settled: an event `committed` or `failed`, or `annotated` later."""

    event_id: UUID
    path: str | None
    what: str
    position: str


@dataclass(frozen=True, slots=True)
class Batch:
    """What comes next in a feed, and the position to go on from; not complete where there is more already."""

    entries: tuple[Entry, ...]
    position: str
    complete: bool


class FeedReader:
    """The feeds, each as its user's reader sees it."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def since(self, user_id: str, position: str | None, limit: int = BATCH_ENTRIES_DEFAULT) -> Batch:
        """Read what was settled after a position, or from the feed's beginning.

        What was given once is durable, is never given again after its position, and nothing ever appears
        before it.
        """
        if not 1 <= limit <= BATCH_ENTRIES_MAX:
            raise InvalidPositionError(
                f"A batch has 1 to {BATCH_ENTRIES_MAX} entries, not {limit}.",
                hint="Ask for the next with the batch's position.",
            )
        after = BEGINNING if position is None else Position.parse(position)
        # One more than wanted, to know whether there is more, and the one where the last batch ended.
        known = int(after != BEGINNING)
        rows = self._fetch(user_id, "since", {"position": after.number, "limit": known + limit + 1})
        if known and (not rows or _position(rows[0]) != after):
            raise InvalidPositionError(
                "The position is not known here.",
                hint="It is another user's, or from before a restore: read from the beginning, or from now.",
            )
        entries = tuple(_entry(row) for row in rows[known : known + limit])
        reached = entries[-1].position if entries else str(after)
        return Batch(entries, reached, complete=known + len(entries) == len(rows))

    def now(self, user_id: str) -> str:
        """Give the position after all that was settled so far, for who wants only what comes."""
        rows = self._fetch(user_id, "newest", {})
        return str(_position(rows[0]) if rows else BEGINNING)

    def _fetch(self, user_id: str, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows = self._pool.read(lambda pooled: _fetch_as_reader(pooled, user_id, name, values))
        # The last step of a saga doesn't wait for the disk. A crash could take it back and give its number to
        # another event, behind the back of a reader who has passed it: so a reader waits for the disk.
        if rows and not rows[-1]["is_durable"]:
            self._pool.read(lambda pooled: pooled.execute(statements("feed")["flush"], prepare=True))
        return rows


class Notices:
    """A connection that is told whose feed has grown."""

    def __init__(self, opened: Connection) -> None:
        self._opened = opened

    def fileno(self) -> int:
        """Give what can be waited on; it is readable when there may be notices."""
        return self._opened.fileno()

    def received(self) -> set[str]:
        """Name the users of whom there were notices, without waiting for more."""
        return {notice.payload for notice in self._opened.notifies(timeout=0)}

    def check(self) -> None:
        """Find out whether the connection is still alive; it is unavailable if not."""
        self._opened.execute(statements("queries")["check"])


@contextmanager
def listen(url: str) -> Iterator[Notices]:
    """Listen for notices on a connection of its own, until it is left or lost."""
    with connection(url, **_LISTENING) as opened, translate_errors():
        opened.execute(statements("feed")["listen"])
        yield Notices(opened)


def _fetch_as_reader(
    pooled: PooledConnection, user_id: str, name: str, values: Mapping[str, Any]
) -> list[dict[str, Any]]:
    sql = statements("feed")
    with pooled.pipeline():
        pooled.execute(sql["act_as_reader"], {"user_id": user_id}, prepare=True)
        found = pooled.execute(sql[name], {**values, "user_id": user_id}, prepare=True)
    return found.fetchall()


def _position(row: Mapping[str, Any]) -> Position:
    return Position(row["position"], row["event_id"])


def _entry(row: Mapping[str, Any]) -> Entry:
    return Entry(row["event_id"], row["path"], row["what"], str(_position(row)))
