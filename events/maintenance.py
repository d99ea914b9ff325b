"""Maintenance over all users: their names, missing migrations and expired requests."""

from collections.abc import Mapping
from datetime import datetime
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
        return [row["user_id"] for row in self._fetch("users", {})]

    def pending_migrations(self) -> list[str]:
        """Name the migrations that the database lacks; refuse a database of another version."""

        def ask(connection: PooledConnection) -> list[str]:
            with connection.transaction():
                connection.execute(statements("migrations")["act_as_login"])
                return [f"{each.version:04d}_{each.name}" for each in pending(connection)]

        return self._pool.read(ask)

    def forget_expired_requests(self, *, limit: int) -> int:
        """Delete up to `limit` expired requests; returns their number."""
        return len(self._fetch("forget_expired", {"limit": limit}))

    def forget_old_calls(self) -> int:
        """Delete what rate limits counted before yesterday; returns the number of rows."""
        return len(self._fetch("forget_old_calls", {}))

    def forget_approvals(self) -> None:
        """Take the words out of expired and denied approvals, and delete those of 90 days ago or earlier."""
        for name in ("forget_words", "forget_denied", "forget_old"):
            self._pool.fetch("maintainer", "approvals", name, {}, prepare=False)

    def forget_sign_ins(self) -> None:
        """Delete the sign-ins and links whose time is over."""
        self._pool.fetch("maintainer", "sign_ins", "forget_expired", {}, prepare=False)

    def facts_of(self, user_id: str, stalled: datetime) -> Mapping[str, Any]:
        """How much a garden has, and its open changes; those that began before this time are `stalled`."""
        values = {"user_id": user_id, "stalled": stalled}
        [facts] = self._pool.fetch(
            "maintainer_for_user", "maintenance", "garden_facts", values, prepare=False
        )
        return dict(facts)

    def facts(self) -> Mapping[str, Any]:
        """The size of the database, the open changes of all users and the newest checkpoint."""
        return dict(self._fetch("home_facts", {})[0])

    def _fetch(self, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        # Planned anew each time: a plan for any limit expects a large one and reads the whole table.
        return self._pool.fetch("maintainer", "maintenance", name, values, prepare=False)
