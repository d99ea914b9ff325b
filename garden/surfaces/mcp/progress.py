"""A call's steps as progress notifications, no more of them than somebody can read."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from garden.tools.pace import Pace

SECONDS_BETWEEN = 0.1

Step = tuple[float, float | None, str | None]
Report = Callable[[float, float | None, str | None], Awaitable[None]]


class _Steps:
    """Steps on their way from a call's thread to the event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Step | None] = asyncio.Queue()
        self._told_at = 0.0

    def tell(self, done: float, total: float | None, message: str | None) -> None:
        """Take a step from another thread; one that follows too soon is left out."""
        now = time.monotonic()
        if now - self._told_at >= SECONDS_BETWEEN:
            self._told_at = now
            self._loop.call_soon_threadsafe(self._queue.put_nowait, (done, total, message))

    async def report_to(self, report: Report) -> None:
        """Report every step until there are no more."""
        while (step := await self._queue.get()) is not None:
            await report(*step)

    def end(self) -> None:
        """Say that there are no more."""
        self._queue.put_nowait(None)


@asynccontextmanager
async def told_to(report: Report) -> AsyncIterator[Pace]:
    """Give a pace whose steps are reported, all of them before the answer."""
    steps = _Steps()
    reporting = asyncio.get_running_loop().create_task(steps.report_to(report))
    try:
        yield Pace(steps.tell)
    except BaseException:
        reporting.cancel()
        raise
    steps.end()
    await reporting
