"""Attempts at sagas that were begun and not ended: what is due, was tried how often, is given up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from garden.events.maintenance import ask_as_maintainer
from garden.events.pool import Pool
from garden.events.rows import Row

ATTEMPTS_MAX = 10
# What one attempt may take before somebody else tries as well; no harm comes of it, but no good either.
PAUSE_SECONDS = 5
# How many times as long it may grow while the disk or the database is in trouble.
_PAUSE_GROWTH_MAX = 60
# Clocks of two hosts may differ by this much without a time lying ahead.
_CLOCK_SLACK = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A saga that is due, as it was claimed; `attempts` counts this one."""

    user_id: str
    path: str
    event_id: UUID
    since: datetime
    attempts: int
    quarantined: bool
    error: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Trouble:
    """A saga that recovery could not bring to its end so far, or has given up for a person to look at."""

    user_id: str
    path: str
    event_id: UUID
    attempts: int
    first_at: datetime
    quarantined_at: datetime | None
    error: Mapping[str, Any] | None


class Attempts:
    """The account of what recovery has tried, over all users."""

    def __init__(self, pool: Pool, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._pool = pool
        self._now = now

    def claim(
        self,
        older_than: timedelta,
        *,
        limit: int,
        user_id: str | None = None,
        attempts_max: int = ATTEMPTS_MAX,
        pause_seconds: float = PAUSE_SECONDS,
        but_for: Sequence[UUID] = (),
    ) -> list[Attempt]:
        """Take some sagas that are due, and count the attempt before it is made.

        Those that were never tried come many at once, and after them those of which no attempt counts. Any
        other comes alone, so that what it does is put down to no other. One that was tried a moment ago is
        not due again; the moment grows for as long as the disk or the database is in trouble. One that was
        tried too often is not to be tried any more: it comes back as quarantined, once.
        """
        now = self._now()
        values = {
            "before": now - older_than,
            "ahead": now + _CLOCK_SLACK,
            "clock_slack": _CLOCK_SLACK,
            "limit": limit,
            "user_id": user_id,
            "attempts_max": attempts_max,
            "pause": timedelta(seconds=pause_seconds),
            "pause_max": timedelta(seconds=pause_seconds * _PAUSE_GROWTH_MAX),
            "but_for": list(but_for),
        }
        return [_attempt(row) for row in self._ask("claim", values)]

    def ended(self, attempts: Sequence[Attempt]) -> None:
        """Forget what came to its end."""
        self._tell("ended", attempts)

    def busy(self, attempts: Sequence[Attempt]) -> None:
        """Take back the count of those whose document somebody alive was holding."""
        self._tell("busy", attempts)

    def failed(self, attempts: Sequence[tuple[Attempt, Mapping[str, Any]]]) -> None:
        """Note what each attempt met."""
        self._tell_errors("failed", attempts)

    def put_off(self, attempts: Sequence[tuple[Attempt, Mapping[str, Any]]]) -> None:
        """Note what kept each attempt from its end, and take back its count: that passes by itself."""
        self._tell_errors("put_off", attempts)

    def troubles(self, user_id: str | None = None) -> list[Trouble]:
        """List what was given up, or put off, and why."""
        return [Trouble(**row) for row in self._ask("troubles", {"user_id": user_id})]

    def release(self, user_id: str | None = None) -> None:
        """Let what was given up be tried again, from the first attempt."""
        self._ask("release", {"user_id": user_id})

    def forget_outdated(self) -> int:
        """Forget attempts at what a later write has ended; returns how many they were."""
        return len(self._ask("outdated", {}))

    def counts(self) -> tuple[int, int]:
        """Count the sagas that are open, and those that were given up."""
        row = self._ask("counts", {})[0]
        return row["stalled"], row["quarantined"]

    def _tell_errors(self, name: str, attempts: Sequence[tuple[Attempt, Mapping[str, Any]]]) -> None:
        errors = [Jsonb(dict(error)) for _, error in attempts]
        self._tell(name, [attempt for attempt, _ in attempts], errors=errors)

    def _tell(self, name: str, attempts: Sequence[Attempt], **more: Any) -> None:
        if attempts:
            values = {
                "user_ids": [each.user_id for each in attempts],
                "event_ids": [each.event_id for each in attempts],
            }
            self._ask(name, {**values, **more})

    def _ask(self, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        return ask_as_maintainer(self._pool, "recoveries", name, values)


def _attempt(row: Row) -> Attempt:
    return Attempt(
        row["user_id"],
        row["path"],
        row["open_event_id"],
        row["updated_at"],
        row["attempts"],
        row["quarantined_at"] is not None,
        row["error"],
    )
