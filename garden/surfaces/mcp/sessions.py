"""Open MCP sessions over HTTP by their owners, so that one caller can't take the room of all."""

import asyncio
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from garden.events.records import Caller
from garden.gateway.processes import SharedCounts
from garden.gateway.threads import TooManyCallsError

_FORGET_SECONDS = 1.0


@dataclass
class _Session:
    owner: Caller
    used_at: float
    requests: int = 0


class Sessions:
    """Counts each caller's sessions, which the SDK opens and ends.

    A session silent for so long that the SDK has ended it is not counted. Used from the event loop alone.
    """

    def __init__(
        self, of_caller_max: int, idle_seconds_max: float, counts: SharedCounts | None = None
    ) -> None:
        self._counts = counts or SharedCounts()
        self._of_caller_max = of_caller_max
        self._idle_seconds_max = idle_seconds_max
        self._open: dict[str, _Session] = {}

    @contextmanager
    def count_opening(self, owner: Caller) -> Iterator[Callable[[str], None]]:
        """Count one more while the block lasts; it stays counted if the block names it."""
        key, session = secrets.token_hex(), _Session(owner, time.monotonic(), requests=1)
        self._open[key] = session
        self._counts.add(("sessions", owner), 1)

        def name(session_id: str) -> None:
            self._open[session_id] = self._open.pop(key)

        try:
            yield name
        finally:
            self.forget(key)
            session.requests -= 1

    def forget(self, session_id: str) -> None:
        """Stop counting a session that has ended."""
        session = self._open.pop(session_id, None)
        if session is not None:
            self._counts.add(("sessions", session.owner), -1)

    @contextmanager
    def keep_in_use(self, session_id: str, caller: Caller) -> Iterator[None]:
        """Protect a session of this caller from being ended while the block lasts."""
        session = self._open.get(session_id)
        if session is None or session.owner != caller:
            yield
            return
        session.requests += 1
        session.used_at = time.monotonic()
        try:
            yield
        finally:
            session.requests -= 1
            session.used_at = time.monotonic()

    def find_one_to_end(self, owner: Caller) -> str | None:
        """Return the session to end before one more is opened: the one not used for longest, if any.

        Where all of them have requests under way, one more is refused. Only sessions of this process can end
        here, so a caller who has none here may open one beyond the limit.
        """
        self._forget_silent()
        own = {name: session for name, session in self._open.items() if session.owner == owner}
        if not own or self._counts.total(("sessions", owner)) < self._of_caller_max:
            return None
        idle = [name for name, session in own.items() if not session.requests]
        if not idle:
            raise TooManyCallsError(
                f"All {self._of_caller_max} sessions of this caller are in use.",
                hint="End one of them, or close the stream of one.",
                details={"retryAfterMs": 1000},
            )
        return min(idle, key=lambda name: own[name].used_at)

    async def keep_forgetting(self) -> None:
        """Stop counting silent sessions, also while no one opens any here: other processes see the count."""
        while True:
            await asyncio.sleep(_FORGET_SECONDS)
            self._forget_silent()

    def _forget_silent(self) -> None:
        now = time.monotonic()
        for name, session in list(self._open.items()):
            if not session.requests and now - session.used_at > self._idle_seconds_max:
                self.forget(name)
