"""What concerns all users: stalled sagas to be found, expired requests to be forgotten."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from events.pool import Pool, PooledConnection
from events.statements import statements


@dataclass(frozen=True, slots=True)
class Stalled:
    """A saga that was begun and not ended, in the order in which its document was last touched."""

    user_id: str
    path: str
    event_id: UUID
    since: datetime


class Maintenance:
    """The account, as the maintainer sees it: every user's, to be read, and old requests to be forgotten."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def stalled(self, before: datetime, *, limit: int, user_id: str | None = None) -> list[Stalled]:
        """Find sagas that have not come to their end, those that have waited longest first."""
        values = {"before": before, "limit": limit, "user_id": user_id}
        rows = self._pool.read(lambda connection: _as_maintainer(connection, "stalled", values))
        return [Stalled(row["user_id"], row["path"], row["open_event_id"], row["updated_at"]) for row in rows]

    def users(self) -> list[str]:
        """Name every user the account knows."""
        rows = self._pool.read(lambda connection: _as_maintainer(connection, "users", {}))
        return [row["user_id"] for row in rows]

    def forget_expired_requests(self, *, limit: int) -> int:
        """Forget requests past their time, a bounded number at once; returns how many they were."""
        rows = self._pool.read(
            lambda connection: _as_maintainer(connection, "forget_expired", {"limit": limit})
        )
        return len(rows)


def _as_maintainer(connection: PooledConnection, name: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    sql = statements("maintenance")
    with connection.pipeline():
        connection.execute(sql["act_as_maintainer"])
        # Planned anew each time: a plan for any limit expects a large one, and reads all there is.
        found = connection.execute(sql[name], values, prepare=False)
    return found.fetchall()
