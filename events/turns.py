"""Turns: whoever waits for a stream's lock waits here first, without a connection.

Otherwise those who wait for one document would hold every connection there is, and all others with them.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from events.idempotency import InProgressError


@dataclass
class _Queue:
    """Who is at a stream, or waits for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    members: int = 0


class Turns:
    """Lets the threads of this process come to a stream one after the other."""

    def __init__(self, seconds_max: float) -> None:
        self._seconds_max = seconds_max
        self._queues: dict[int, _Queue] = {}
        self._guard = threading.Lock()

    @contextmanager
    def turn(self, stream: int) -> Iterator[None]:
        """Wait until nobody else of this process is at the stream."""
        with self._guard:
            queue = self._queues.setdefault(stream, _Queue())
            queue.members += 1
        try:
            if not queue.lock.acquire(timeout=self._seconds_max):
                raise InProgressError(
                    "Another change of this document is taking too long.", hint="Try again in a few seconds."
                )
            try:
                yield
            finally:
                queue.lock.release()
        finally:
            with self._guard:
                queue.members -= 1
                if not queue.members:
                    del self._queues[stream]

    def members(self, stream: int) -> int:
        """Count who is at a stream or waits for it."""
        with self._guard:
            queue = self._queues.get(stream)
            return queue.members if queue else 0
