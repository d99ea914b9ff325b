"""The answer to whether the service is ready, kept for a moment: those who ask may be many."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

from garden.access.readiness import missing
from garden.application import Garden

_KEPT_SECONDS = 1.0
_SECONDS_MAX = 5.0


class Readiness:
    """Asks the database and the disk, one question at a time."""

    def __init__(self, garden: Garden) -> None:
        self._services = garden.services
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="garden-ready")
        self._asked: asyncio.Future[list[str]] | None = None
        self._asked_at = 0.0

    async def missing(self) -> list[str]:
        """Name what keeps the service from answering calls."""
        now = time.monotonic()
        if self._asked is None or (self._asked.done() and now - self._asked_at > _KEPT_SECONDS):
            self._asked = asyncio.get_running_loop().run_in_executor(self._thread, missing, self._services)
            self._asked_at = now
        try:
            async with asyncio.timeout(_SECONDS_MAX):
                return await asyncio.shield(self._asked)
        except TimeoutError:
            return ["the database does not answer"]

    def close(self) -> None:
        """Let the thread go."""
        self._thread.shutdown()
