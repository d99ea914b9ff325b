"""The feed of settled events, in an order that a reader can resume, and notices of new entries."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from garden.events.database import Connection, connection
from garden.events.pool import Pool, translate_errors
from garden.events.statements import statements
from garden.grammar.errors import GardenError

BATCH_ENTRIES_DEFAULT = 100
BATCH_ENTRIES_MAX = 500
# A listener only waits; without these options it would wait for ever on a dead connection.
_LISTENING: dict[str, Any] = {
    "application_name": "memory-garden-feed",
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
_POSITION = re.compile(r"(0|[1-9][0-9]{0,17})-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")


class InvalidPositionError(GardenError):
    """A position that this database never gave, or an impossible batch size."""

    code = "invalid_input"


@dataclass(frozen=True, slots=True)
class Position:
    """A place in one user's feed; the reader knows everything up to it."""

    number: int
    event_id: UUID

    def __str__(self) -> str:
        return f"{self.number}-{self.event_id}"

    @classmethod
    def parse(cls, text: str) -> "Position":
        """Parse the position of a batch or an entry."""
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
    """An event that was `committed`, `failed`, or `annotated` later."""

    event_id: UUID
    path: str | None
    what: str
    position: str


@dataclass(frozen=True, slots=True)
class Batch:
    """The next entries of a feed and the position after them; incomplete while more entries wait."""

    entries: tuple[Entry, ...]
    position: str
    complete: bool


class FeedReader:
    """Reads feeds, each with its user's rights."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def since(self, user_id: str, position: str | None, limit: int = BATCH_ENTRIES_DEFAULT) -> Batch:
        """Read the entries after a position, or from the beginning of the feed.

        Entries are durable, come once, and never appear before a position that was given.
        """
        if not 1 <= limit <= BATCH_ENTRIES_MAX:
            raise InvalidPositionError(
                f"A batch has 1 to {BATCH_ENTRIES_MAX} entries, not {limit}.",
                hint="Ask for the next with the batch's position.",
            )
        after = BEGINNING if position is None else Position.parse(position)
        # One entry more than asked for shows whether there are more; the known one proves the position.
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
        """Read the position after the newest entry."""
        rows = self._fetch(user_id, "newest", {})
        return str(_position(rows[0]) if rows else BEGINNING)

    def _fetch(self, user_id: str, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows = self._pool.fetch("reader", "feed", name, {**values, "user_id": user_id})
        # The last step of a saga does not wait for the disk. A crash could undo it and give its number to
        # another event, which a reader past that number would miss; so the reader waits for the disk.
        if rows and not rows[-1]["is_durable"]:
            self._pool.read(lambda pooled: pooled.execute(statements("feed")["flush"], prepare=True))
        return rows


class Notices:
    """A connection that receives the names of users whose feed has grown."""

    def __init__(self, opened: Connection) -> None:
        self._opened = opened

    def fileno(self) -> int:
        """The descriptor to wait on; it is readable when notices may have arrived."""
        return self._opened.fileno()

    def take_users(self) -> set[str]:
        """Take the new notices, without waiting for more, and return their users."""
        return {notice.payload for notice in self._opened.notifies(timeout=0)}

    def check(self) -> None:
        """Raise `unavailable` if the connection is dead."""
        self._opened.execute(statements("queries")["check"])


@contextmanager
def listen(url: str) -> Iterator[Notices]:
    """Listen for notices on a new connection."""
    with connection(url, **_LISTENING) as opened, translate_errors():
        opened.execute(statements("feed")["listen"])
        yield Notices(opened)


def _position(row: Mapping[str, Any]) -> Position:
    return Position(row["position"], row["event_id"])


def _entry(row: Mapping[str, Any]) -> Entry:
    return Entry(row["event_id"], row["path"], row["what"], str(_position(row)))
