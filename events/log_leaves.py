"""The transparency log in Postgres: numbered leaves, what each commits to, and signed checkpoints."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import UUID

from garden.events.pool import Pool, PooledConnection
from garden.events.seals import leaf_entry
from garden.events.statements import statements

_BATCH_ROWS = 1000


class Leaf(NamedTuple):
    """A place in the log, and the entry of a user's feed that it is for."""

    user_id: str
    position: int
    leaf: int


class StoredCheckpoint(NamedTuple):
    """A checkpoint as it was signed."""

    size: int
    root: bytes
    note: str


class LogLeaves:
    """The log for the maintainer, who numbers every user's settled events."""

    def __init__(self, pool: Pool, connection: PooledConnection | None = None) -> None:
        self._pool = pool
        self._connection = connection

    @contextmanager
    def transaction(self) -> Iterator["LogLeaves"]:
        """Read, or number leaves and add their checkpoint, in one transaction."""
        with self._pool.connection() as connection, connection.transaction():
            connection.execute(statements("identities")["maintainer"])
            yield LogLeaves(self._pool, connection)

    def newest_checkpoint(self) -> StoredCheckpoint | None:
        """The newest checkpoint, if there is one."""
        rows = self._fetch("newest_checkpoint", {})
        return StoredCheckpoint(rows[0]["size"], bytes(rows[0]["root"]), rows[0]["note"]) if rows else None

    def number(self, size: int, limit: int) -> int:
        """Number up to `limit` settled events from `size` on; returns how many."""
        [row] = self._fetch("number", {"size": size, "limit": limit})
        return int(row["leaves"])

    def add_checkpoint(self, checkpoint: StoredCheckpoint) -> None:
        """Store a signed checkpoint."""
        self._fetch("add_checkpoint", checkpoint._asdict())

    def leaves(self, first: int, end: int) -> list[Leaf]:
        """The leaves from `first` up to `end`, in their order."""
        return [Leaf(**row) for row in self._fetch("leaves", {"first": first, "end": end})]

    def entries(self, first: int, end: int) -> dict[int, bytes]:
        """What the leaves from `first` up to `end` commit to; those whose event is gone are left out."""
        ends = {"first": first, "end": end}
        rows = [row for name in ("logged_events", "logged_annotations") for row in self._fetch(name, ends)]
        return {row.pop("leaf"): leaf_entry(row) for row in rows}

    def leaves_of(self, user_id: str) -> Iterator[list[Leaf]]:
        """A user's leaves in the feed's order, in batches."""
        values, after = {"user_id": user_id, "limit": _BATCH_ROWS}, 0
        while rows := self._fetch("leaves_of", {**values, "after": after}):
            yield [Leaf(user_id, **row) for row in rows]
            after = rows[-1]["position"]

    def leaf_of(self, user_id: str, event_id: UUID) -> int | None:
        """The leaf of an event, once it has one."""
        rows = self._fetch("leaf_of", {"user_id": user_id, "event_id": event_id})
        return rows[0]["leaf"] if rows else None

    def covered(self, user_id: str, size: int) -> dict[str, int]:
        """The last event of each of a user's streams that is among the first entries of the log."""
        rows = self._fetch("covered", {"user_id": user_id, "size": size})
        return {row["stream"]: row["sequence"] for row in rows}

    def _fetch(self, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        if self._connection is None:
            return self._pool.fetch("maintainer", "log", name, values)
        # Times and bytes in binary take less to read than as text.
        return self._connection.execute(statements("log")[name], values, binary=True).fetchall()
