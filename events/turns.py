"""Turns: most threads that want the lock of one stream wait here, without a connection.

Otherwise the threads that wait for one document could hold every connection and block all other documents.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from garden.events.idempotency import InProgressError

# The holder, the next one, which takes the lock without a pause, and one to spare.
_AT_A_STREAM_MAX = 3


@dataclass
class _Queue:
    """The threads at a stream and those that wait for a place."""

    places: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(_AT_A_STREAM_MAX))
    members: int = 0


class Turns:
    """Lets a few threads of this process work at a stream at once."""

    def __init__(self, seconds_max: float) -> None:
        self._seconds_max = seconds_max
        self._queues: dict[int, _Queue] = {}
        self._guard = threading.Lock()

    @contextmanager
    def turn(self, stream: int) -> Iterator[None]:
        """Wait for a place at the stream."""
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
        """Count the threads at a stream and those that wait for a place."""
        with self._guard:
            queue = self._queues.get(stream)
            return queue.members if queue else 0
