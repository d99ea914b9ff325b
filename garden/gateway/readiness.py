"""Whether an open garden can answer calls now; the answer is kept for a second, since many may ask."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

from garden.events.migrations import MigrationError
from garden.grammar.errors import GardenError
from garden.writing.services import Services

_KEPT_SECONDS = 1.0
_SECONDS_MAX = 5.0
_NO_DATABASE = "the database does not answer"


class Readiness:
    """Checks the database and the disk in a thread of its own, one check at a time."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="garden-ready")
        self._check: asyncio.Future[list[str]] | None = None
        self._checked_at = 0.0

    async def obstacles(self) -> list[str]:
        """Name what keeps the garden from answering calls; nothing does if the list is empty."""
        now = time.monotonic()
        if self._check is None or (self._check.done() and now - self._checked_at > _KEPT_SECONDS):
            loop = asyncio.get_running_loop()
            self._check = loop.run_in_executor(self._thread, _find_obstacles, self._services)
            self._checked_at = now
        try:
            async with asyncio.timeout(_SECONDS_MAX):
                return await asyncio.shield(self._check)
        except TimeoutError:
            return [_NO_DATABASE]

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()


def _find_obstacles(services: Services) -> list[str]:
    found = []
    try:
        pending = services.maintenance.pending_migrations()
        if pending:
            found.append(f"the database lacks the migrations {', '.join(pending)}")
    except MigrationError as error:
        found.append(f"the database's schema is not this version's: {error.message.rstrip('.')}")
    except GardenError:
        found.append(_NO_DATABASE)
    try:
        if services.disk_space.is_low:
            found.append("the disk is nearly full")
    except GardenError:
        found.append("the garden home can't be reached")
    return found
