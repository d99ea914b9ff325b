"""What concerns all users: who there are, the schema, and expired requests to be forgotten."""

from collections.abc import Mapping
from typing import Any

from garden.events.migrations import pending
from garden.events.pool import Pool, PooledConnection
from garden.events.statements import statements


class Maintenance:
    """The account, as the maintainer sees it: every user's, to be read, and old requests to be forgotten."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def users(self) -> list[str]:
        """Name every user the account knows."""
        return [row["user_id"] for row in ask_as_maintainer(self._pool, "maintenance", "users", {})]

    def pending_migrations(self) -> list[str]:
        """Name the migrations that the database lacks; one that has others than this version is refused."""

        def asked(connection: PooledConnection) -> list[str]:
            with connection.transaction():
                connection.execute(statements("migrations")["act_as_login"])
                return [f"{each.version:04d}_{each.name}" for each in pending(connection)]

        return self._pool.read(asked)

    def forget_expired_requests(self, *, limit: int) -> int:
        """Forget requests past their time, a bounded number at once; returns how many they were."""
        return len(ask_as_maintainer(self._pool, "maintenance", "forget_expired", {"limit": limit}))


def ask_as_maintainer(pool: Pool, file: str, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run one of the maintainer's statements, in one round trip and one transaction."""

    def asked(connection: PooledConnection) -> list[dict[str, Any]]:
        with connection.pipeline():
            connection.execute(statements("maintenance")["act_as_maintainer"])
            # Planned anew each time: a plan for any limit expects a large one, and reads all there is.
            found = connection.execute(statements(file)[name], values, prepare=False)
        return found.fetchall() if found.description else []

    return pool.read(asked)
