"""Turns: of those who want one stream's lock, most wait here, where they hold no connection.

Otherwise those who wait for one document would hold every connection there is, and keep others from theirs.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from garden.events.idempotency import InProgressError

# The holder, the next one, who is to have the lock without a pause, and one to spare.
_AT_A_STREAM_MAX = 3


@dataclass
class _Queue:
    """Who is at a stream, or waits to be."""

    places: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(_AT_A_STREAM_MAX))
    members: int = 0


class Turns:
    """Lets only a few threads of this process come to a stream at once."""

    def __init__(self, seconds_max: float) -> None:
        self._seconds_max = seconds_max
        self._queues: dict[int, _Queue] = {}
        self._guard = threading.Lock()

    @contextmanager
    def turn(self, stream: int) -> Iterator[None]:
        """Wait until there is a place at the stream."""
        with self._guard:
            queue = self._queues.setdefault(stream, _Queue())
            queue.members += 1
        try:
            if not queue.places.acquire(timeout=self._seconds_max):
                raise InProgressError(
                    "Another change of this document is taking too long.", hint="Try again in a few seconds."
                )
            try:
                yield
            finally:
                queue.places.release()
        finally:
            with self._guard:
                queue.members -= 1
                if not queue.members:
                    del self._queues[stream]

    def members(self, stream: int) -> int:
        """Count who is at a stream or waits to be."""
        with self._guard:
            queue = self._queues.get(stream)
            return queue.members if queue else 0
