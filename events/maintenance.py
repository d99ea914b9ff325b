"""Maintenance over all users: their names, missing migrations and expired requests."""

from collections.abc import Mapping
from typing import Any

from garden.events.migrations import pending
from garden.events.pool import Pool, PooledConnection
from garden.events.statements import statements


class Maintenance:
    """The event log for the maintainer, who reads every user's rows and deletes expired requests."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def users(self) -> list[str]:
        """Name every user in the event log."""
        return [row["user_id"] for row in ask_as_maintainer(self._pool, "maintenance", "users", {})]

    def pending_migrations(self) -> list[str]:
        """Name the migrations that the database lacks; refuse a database of another version."""

        def ask(connection: PooledConnection) -> list[str]:
            with connection.transaction():
                connection.execute(statements("migrations")["act_as_login"])
                return [f"{each.version:04d}_{each.name}" for each in pending(connection)]

        return self._pool.read(ask)

    def forget_expired_requests(self, *, limit: int) -> int:
        """Delete up to `limit` expired requests; returns their number."""
        return len(ask_as_maintainer(self._pool, "maintenance", "forget_expired", {"limit": limit}))


def ask_as_maintainer(pool: Pool, file: str, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run a statement as the maintainer, in one round trip and one transaction."""

    def ask(connection: PooledConnection) -> list[dict[str, Any]]:
        with connection.pipeline():
            connection.execute(statements("maintenance")["act_as_maintainer"])
            # Planned anew each time: a plan for any limit expects a large one and reads the whole table.
            found = connection.execute(statements(file)[name], values, prepare=False)
        return found.fetchall() if found.description else []

    return pool.read(ask)
