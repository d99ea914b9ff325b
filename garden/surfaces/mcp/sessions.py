"""The sessions that are open over HTTP, and whose they are: nobody takes the room that is for all."""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from garden.access.threads import TooManyCallsError
from garden.events.records import Caller


@dataclass
class _Session:
    owner: Caller
    used_at: float
    under_way: int = 0


class Sessions:
    """Counts the sessions of each caller; it is the SDK that opens and ends them.

    One that was silent for so long that the SDK has ended it counts no more. Used from the event loop alone.
    """

    def __init__(self, of_caller_max: int, idle_seconds_max: float) -> None:
        self._of_caller_max = of_caller_max
        self._idle_seconds_max = idle_seconds_max
        self._open: dict[str, _Session] = {}

    @contextmanager
    def opening(self, owner: Caller) -> Iterator[Callable[[str], None]]:
        """Count one more while the block lasts, and from then on if it is given a name."""
        key, session = secrets.token_hex(), _Session(owner, time.monotonic(), under_way=1)
        self._open[key] = session

        def opened(session_id: str) -> None:
            self._open[session_id] = self._open.pop(key)

        try:
            yield opened
        finally:
            self._open.pop(key, None)
            session.under_way -= 1

    def ended(self, session_id: str) -> None:
        """Count a session no more."""
        self._open.pop(session_id, None)

    @contextmanager
    def used(self, session_id: str, caller: Caller) -> Iterator[None]:
        """Keep a session of this caller, if it is one, from having to be ended while the block lasts."""
        session = self._open.get(session_id)
        if session is None or session.owner != caller:
            yield
            return
        session.under_way += 1
        session.used_at = time.monotonic()
        try:
            yield
        finally:
            session.under_way -= 1
            session.used_at = time.monotonic()

    def in_the_way(self, owner: Caller) -> str | None:
        """Give the session that has to be ended before one more is opened: the one not used for longest.

        Where all of them have requests under way, one more is refused.
        """
        self._forget_silent()
        own = {name: session for name, session in self._open.items() if session.owner == owner}
        if len(own) < self._of_caller_max:
            return None
        idle = [name for name, session in own.items() if not session.under_way]
        if not idle:
            raise TooManyCallsError(
                f"{self._of_caller_max} sessions are open already, and all of them are in use.",
                hint="End one of them, or close the stream of one.",
                details={"retryAfterMs": 1000},
            )
        return min(idle, key=lambda name: own[name].used_at)

    def _forget_silent(self) -> None:
        now = time.monotonic()
        for name, session in list(self._open.items()):
            if not session.under_way and now - session.used_at > self._idle_seconds_max:
                self.ended(name)
