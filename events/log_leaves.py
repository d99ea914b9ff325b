"""The transparency log in Postgres: numbered leaves, what each commits to, and signed checkpoints."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import UUID

from garden.events.pool import Pool, PooledConnection
from garden.events.seals import leaf_entry
from garden.events.statements import statements

_BATCH_ROWS = 1000


class Leaf(NamedTuple):
    """The place of an entry of a user's feed in the log."""

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

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @contextmanager
    def numbering(self) -> Iterator["Numbering"]:
        """Number leaves and add their checkpoint in one transaction; one process at a time does so."""
        with self._pool.connection() as connection, connection.transaction():
            connection.execute(statements("identities")["maintainer"])
            connection.execute(statements("log")["lock"])
            yield Numbering(connection)

    def newest_checkpoint(self) -> StoredCheckpoint | None:
        """The newest checkpoint, if there is one."""
        return _checkpoint(self._fetch("newest_checkpoint", {}))

    def users(self) -> list[str]:
        """Name every user in a feed or in the log."""
        return [row["user_id"] for row in self._fetch("users", {})]

    def leaves_of(self, user_id: str) -> Iterator[dict[Leaf, bytes | None]]:
        """A user's leaves in the feed's order, in batches; each with its entry, or None if it is gone."""
        after = 0
        while found := self._fetch("leaves", {"user_id": user_id, "after": after, "limit": _BATCH_ROWS}):
            leaves = [Leaf(**row) for row in found]
            ends = {"users": [user_id], "firsts": [leaves[0].position], "lasts": [leaves[-1].position]}
            entries = _entries([row for name in _LOGGED for row in self._fetch(name, ends)])
            yield {each: entries.get(each.leaf) for each in leaves}
            after = leaves[-1].position

    def leaf_of(self, user_id: str, event_id: UUID) -> int | None:
        """The leaf of an event, once it has one."""
        rows = self._fetch("leaf_of", {"user_id": user_id, "event_id": event_id})
        return rows[0]["leaf"] if rows else None

    def covered(self, user_id: str, size: int) -> dict[str, int]:
        """The last event of each of a user's streams that is among the first entries of the log."""
        rows = self._fetch("covered", {"user_id": user_id, "size": size})
        return {row["stream"]: row["sequence"] for row in rows}

    def _fetch(self, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        return self._pool.fetch("maintainer", "log", name, values)


class Numbering:
    """The transaction that extends the log."""

    def __init__(self, connection: PooledConnection) -> None:
        self._connection = connection

    def newest_checkpoint(self) -> StoredCheckpoint | None:
        """The newest checkpoint, if there is one."""
        return _checkpoint(self._run("newest_checkpoint", {}))

    def number(self, size: int, limit: int) -> list[bytes | None]:
        """Number up to `limit` settled events from `size` on; returns their entries, None for a lost one."""
        ranges = self._run("number", {"size": size, "limit": limit})
        ends = {f"{name}s": [row[name] for row in ranges] for name in ("first", "last")}
        ends["users"] = [row["user_id"] for row in ranges]
        entries = _entries([row for name in _LOGGED for row in self._run(name, ends)] if ranges else [])
        count = sum(row["leaves"] for row in ranges)
        return [entries.get(leaf) for leaf in range(size, size + count)]

    def add_checkpoint(self, checkpoint: StoredCheckpoint) -> None:
        """Store a signed checkpoint."""
        self._connection.execute(statements("log")["add_checkpoint"], checkpoint._asdict())

    def _run(self, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        # Times and bytes in binary take less to read than as text.
        return self._connection.execute(statements("log")[name], values, binary=True).fetchall()


_LOGGED = ("logged_events", "logged_annotations")


def _checkpoint(rows: Sequence[Mapping[str, Any]]) -> StoredCheckpoint | None:
    return StoredCheckpoint(rows[0]["size"], bytes(rows[0]["root"]), rows[0]["note"]) if rows else None


def _entries(rows: Sequence[dict[str, Any]]) -> dict[int, bytes]:
    return {row.pop("leaf"): leaf_entry(row) for row in rows}
