"""Attempts to settle stalled sagas: which are due, how often each was tried, which are given up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from garden.events.pool import Pool

ATTEMPTS_MAX = 10
# After this time another process may try as well, which does no harm and no good.
PAUSE_SECONDS = 5
# The pause grows up to this many times while the disk or the database is in trouble.
_PAUSE_GROWTH_MAX = 60
# The clocks of two hosts may differ by this much.
_CLOCK_SLACK = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A claimed saga; `attempts` includes this attempt."""

    user_id: str
    path: str
    event_id: UUID
    since: datetime
    attempts: int
    quarantined: bool
    error: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Trouble:
    """A saga that could not be settled so far, or is quarantined until a person looks at it."""

    user_id: str
    path: str
    event_id: UUID
    attempts: int
    first_at: datetime
    quarantined_at: datetime | None
    error: Mapping[str, Any] | None


class Attempts:
    """The attempts to settle sagas, over all users."""

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
        excluded: Sequence[UUID] = (),
    ) -> list[Attempt]:
        """Claim due sagas, and count the attempt before it is made.

        New sagas come in batches, and after them those without a counted attempt. Any other saga comes alone,
        so that a crash of the worker is put down to it. A saga that was just tried is not due for a pause,
        which grows while the disk or the database is in trouble. After too many attempts a saga comes back
        once more, as quarantined, and never again.
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
            "excluded": list(excluded),
        }
        return [Attempt(**row) for row in self._ask("claim", values)]

    def forget(self, attempts: Sequence[Attempt]) -> None:
        """Delete the attempts at settled sagas."""
        self._update("forget", attempts)

    def uncount(self, attempts: Sequence[Attempt]) -> None:
        """Take back the count of attempts that found another process holding the document."""
        self._update("uncount", attempts)

    def note_errors(self, attempts: Sequence[tuple[Attempt, Mapping[str, Any]]]) -> None:
        """Record the error of each attempt."""
        self._update_errors("note_errors", attempts)

    def postpone(self, attempts: Sequence[tuple[Attempt, Mapping[str, Any]]]) -> None:
        """Record the error of each attempt and take back its count: such an error passes by itself."""
        self._update_errors("postpone", attempts)

    def troubles(self, user_id: str | None = None) -> list[Trouble]:
        """List the quarantined and the postponed sagas, with their errors."""
        return [Trouble(**row) for row in self._ask("troubles", {"user_id": user_id})]

    def release(self, user_id: str | None = None) -> None:
        """Let quarantined sagas be tried again, with a new count."""
        self._ask("release", {"user_id": user_id})

    def forget_outdated(self) -> int:
        """Delete the attempts at sagas that a later write has settled; returns their number."""
        return len(self._ask("forget_outdated", {}))

    def counts(self) -> tuple[int, int]:
        """Count the open sagas and the quarantined ones."""
        row = self._ask("counts", {})[0]
        return row["stalled"], row["quarantined"]

    def _update_errors(self, name: str, attempts: Sequence[tuple[Attempt, Mapping[str, Any]]]) -> None:
        errors = [Jsonb(dict(error)) for _, error in attempts]
        self._update(name, [attempt for attempt, _ in attempts], errors=errors)

    def _update(self, name: str, attempts: Sequence[Attempt], **more: Any) -> None:
        if attempts:
            values = {
                "user_ids": [each.user_id for each in attempts],
                "event_ids": [each.event_id for each in attempts],
            }
            self._ask(name, {**values, **more})

    def _ask(self, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        # Planned anew each time: a plan for any limit expects a large one and reads the whole table.
        return self._pool.fetch("maintainer", "recoveries", name, values, prepare=False)
