"""How often recall is used, and what it gives as context; never what was asked."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from garden.events.identifiers import uuid7
from garden.events.later import Later
from garden.events.pool import Pool
from garden.events.statements import statements
from garden.grammar.errors import GardenError

_NEWEST = UUID(int=2**128 - 1)


class RecallUsage:
    """Counts answered calls by user and day of UTC; a call never waits for that, and never fails by it.

    `totals` are the answers of this process by tool and outcome, `found` or `empty`.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.totals: Counter[tuple[str, str]] = Counter()
        self._gathered: dict[tuple[str, date, str], tuple[int, int, float]] = {}
        self._guard, self._writing = threading.Lock(), threading.Lock()
        self._later = Later(self.flush)

    def count(self, user_id: str, tool: str, started: float, *, is_empty: bool) -> None:
        """Count a call that began at this reading of the performance counter."""
        took, key = (time.perf_counter() - started) * 1000, (user_id, datetime.now(UTC).date(), tool)
        with self._guard:
            self.totals[tool, "empty" if is_empty else "found"] += 1
            calls, empty, milliseconds = self._gathered.get(key, (0, 0, 0.0))
            self._gathered[key] = calls + 1, empty + is_empty, milliseconds + took
        self._later.ask()

    def flush(self) -> None:
        """Write what was counted."""
        with self._writing:
            with self._guard:
                gathered, self._gathered = self._gathered, {}
            for (user_id, day, tool), (calls, empty, milliseconds) in sorted(gathered.items()):
                counts = {"calls": calls, "empty": empty, "milliseconds": milliseconds}
                self._write("add", {"user_id": user_id, "day": day, "tool": tool, **counts})

    def close(self) -> None:
        """Write what was counted, before the pool is closed."""
        self._later.close()

    def note_given(self, user_id: str, actor: str, passages: Sequence[str]) -> None:
        """Record the ids of the passages that an actor is given."""
        now = datetime.now(UTC)
        given = {"given_id": uuid7(now), "given_at": now, "actor": actor, "passages": list(passages)}
        self._write("note_given", {"user_id": user_id, **given})

    def given(
        self, user_id: str, limit: int, first: UUID | None = None, *, shown: int
    ) -> list[Mapping[str, Any]]:
        """Read what a user's actors were given, newest first, from an id on; of each the first passages."""
        values = {"user_id": user_id, "limit": limit, "first": first or _NEWEST, "shown": shown}
        return self._pool.fetch("reader", "recall_usage", "given", values)

    def by_day(self, user_id: str) -> list[dict[str, Any]]:
        """Read a user's counts, the newest day first."""
        return self._pool.fetch("reader", "recall_usage", "by_day", {"user_id": user_id})

    def _write(self, name: str, values: Mapping[str, Any]) -> None:
        # Only once: after a lost connection it may have been written.
        try:
            with self._pool.connection() as connection, connection.pipeline():
                for each in ("act", name):
                    connection.execute(statements("recall_usage")[each], values, prepare=True)
        except GardenError as error:
            logging.getLogger("garden.recall").warning("usage was not recorded: %s", error.message)
