"""A call's steps as progress notifications, at a rate that a person can read."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from garden.tools.progress import CallProgress

SECONDS_BETWEEN = 0.1

_Step = tuple[float, float | None, str | None]
_SendProgress = Callable[[float, float | None, str | None], Awaitable[None]]


class _StepQueue:
    """Carries steps from a call's thread to the event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[_Step | None] = asyncio.Queue()
        self._put_at = 0.0

    def put(self, done: float, total: float | None, message: str | None) -> None:
        """Take a step from another thread; drop it if it follows the last one too soon."""
        now = time.monotonic()
        if now - self._put_at >= SECONDS_BETWEEN:
            self._put_at = now
            self._loop.call_soon_threadsafe(self._queue.put_nowait, (done, total, message))

    async def send_to(self, send: _SendProgress) -> None:
        """Send every step until `end`."""
        while (step := await self._queue.get()) is not None:
            await send(*step)

    def end(self) -> None:
        """Send no more after the steps so far."""
        self._queue.put_nowait(None)


@asynccontextmanager
async def report_steps(send: _SendProgress | None) -> AsyncIterator[CallProgress]:
    """Yield a pace whose steps are all sent before the block is left; without `send`, a plain one."""
    if send is None:
        yield CallProgress()
        return
    steps = _StepQueue()
    sending = asyncio.get_running_loop().create_task(steps.send_to(send))
    try:
        yield CallProgress(steps.put)
    except BaseException:
        sending.cancel()
        raise
    steps.end()
    await sending
