"""The account of calls: a row for every call of a tool, with its outcome and without secrets."""

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
from pydantic_core import to_json

from garden.events.database import DatabaseUnavailableError
from garden.events.identifiers import earliest_uuid7
from garden.events.later import Later
from garden.events.pool import Pool
from garden.events.statements import statements
from garden.grammar.errors import GardenError

CallRow = Mapping[str, Any]
"""The columns of `garden.tool_calls`."""

_FILE = "calls"
_ROWS_MAX = 5_000
_REFUSALS_A_MINUTE_MAX = 60
_BATCH_ROWS = 10_000
FIGURED_ROWS_MAX = 10_000
"""Figures for people are made of so many calls at most, so that a page never waits for more."""
_FIGURES_MAX = 30


class CallFigures(NamedTuple):
    """Calls of one tool, or of one actor: their number, those not carried out, milliseconds."""

    tool: str | None
    actor: str | None
    calls: int
    unsuccessful: int
    p50: float | None
    p95: float | None


def call_json(known: Sequence[CallRow] | CallRow) -> str:
    """Rows, or the outcome of the call of `event_id` that has an id from `first` to `last`."""
    return to_json(known).decode()


class CallLog:
    """Writes rows in batches; a call waits for that only if it fills a batch, and never fails by it."""

    def __init__(
        self, pool: Pool, keep_days: int, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._pool = pool
        self._now = now
        self._keep_days = keep_days
        self._gathered: dict[UUID, CallRow] = {}
        self._guard, self._writing = threading.Lock(), threading.Lock()
        self._later = Later(self.flush)
        self._minute, self._refusals = 0.0, Counter[tuple[str, str]]()
        self._shared: dict[tuple[str, ...], CallRow] = {}

    def put(self, row: CallRow) -> None:
        """Add a call that has ended, or bring its row up to date."""
        with self._guard:
            if row["status"] == "refused" and row["event_id"] is None:
                row = self._share(row)
            self._gathered[row["call_id"]] = row
            is_full = len(self._gathered) >= _ROWS_MAX
        if is_full:
            self.flush()
        else:
            self._later.ask()

    def flush(self) -> None:
        """Write what was gathered, in one round trip for each user; without a database it stays."""
        with self._writing:
            with self._guard:
                gathered, self._gathered = self._gathered, {}
            by_user: dict[str, list[CallRow]] = defaultdict(list)
            for row in gathered.values():
                by_user[row["user_id"]].append(row)
            for user_id, rows in by_user.items():
                self._write(user_id, rows)

    def close(self) -> None:
        """Write what was gathered, before the pool is closed."""
        self._later.close()
        self._drop(len(self._gathered))

    def stats(
        self, user_id: str, period: timedelta, actor: str | None = None, tool: str | None = None
    ) -> dict[str, Any]:
        """Read figures over a user's calls of this period up to now."""
        self.flush()
        values = {"user_id": user_id, "earliest": self._earliest(period), "actor": actor, "tool": tool}
        found: list[dict[str, Any]] = self._pool.fetch("reader", _FILE, "stats", values)
        return found[0]

    def figures(self, user_id: str, period: timedelta) -> list[CallFigures]:
        """Read figures over a user's calls of this period by tool and by actor.

        They are those of the newest calls, where there are more than so many.
        """
        self.flush()
        values = {"user_id": user_id, "earliest": self._earliest(period), "most": _FIGURES_MAX}
        rows = self._pool.fetch("reader", _FILE, "figures", {**values, "rows": FIGURED_ROWS_MAX})
        return [CallFigures(**row) for row in rows]

    def actors(self, user_id: str, period: timedelta) -> list[str]:
        """Name the actors of a user's calls of this period up to now."""
        values = {"user_id": user_id, "earliest": self._earliest(period)}
        return [row["actor"] for row in self._pool.fetch("reader", _FILE, "actors", values)]

    def forget_expired(self) -> Iterator[int]:
        """Delete the calls that were kept long enough; yields the number per batch."""
        earliest = self._earliest(timedelta(days=self._keep_days))
        for row in self._pool.fetch("maintainer", _FILE, "users", {}):
            values = {"user_id": row["user_id"], "earliest": earliest, "limit": _BATCH_ROWS}
            while gone := self._pool.fetch("maintainer_for_user", _FILE, "forget_before", values):
                yield len(gone)

    def _earliest(self, period: timedelta) -> UUID:
        return earliest_uuid7(self._now() - period)

    def _share(self, row: CallRow) -> CallRow:
        """Past so many refusals of an actor a minute, those of one tool and code share a row."""
        minute, actor = time.monotonic() // 60, (row["user_id"], row["actor"])
        if minute != self._minute or len(self._refusals) >= _ROWS_MAX:
            self._minute, self._refusals, self._shared = minute, Counter(), {}
        self._refusals[actor] += 1
        if self._refusals[actor] <= _REFUSALS_A_MINUTE_MAX:
            return row
        key = *actor, row["tool"], row["code"]
        first = self._shared.get(key)
        self._shared[key] = {**first, "calls": first["calls"] + 1} if first else row
        return self._shared[key]

    def _write(self, user_id: str, rows: Sequence[CallRow]) -> None:
        values = {"user_id": user_id, "calls": call_json(rows)}
        try:
            with self._pool.connection() as connection:
                connection.execute(statements(_FILE)["put"], values, prepare=True)
        except DatabaseUnavailableError:
            self._keep(rows)
        except (GardenError, psycopg.Error) as error:
            self._drop(len(rows), type(error).__name__)

    def _keep(self, rows: Sequence[CallRow]) -> None:
        """Keep the newest rows for the next batch, but leave room, so that few calls wait for a full one."""
        with self._guard:
            self._gathered = {row["call_id"]: row for row in rows} | self._gathered
            lost = [*self._gathered][: -_ROWS_MAX // 2]
            for call_id in lost:
                del self._gathered[call_id]
        self._drop(len(lost))

    def _drop(self, number: int, reason: str = "the database is not available") -> None:
        if number:
            logging.getLogger("garden.calls").warning("%d calls were not recorded: %s", number, reason)


def blank_calls(pool: Pool, user_id: str, before: datetime) -> None:
    """Take the words out of the calls that began before an erasure."""
    values = {"user_id": user_id, "created_at": before, "limit": _BATCH_ROWS}
    while pool.fetch("maintainer_for_user", _FILE, "blank_before", values, prepare=False):
        pass
