"""An open garden for async applications: calls are awaited while worker threads run them.

    async with garden.aio.open(home="my-garden") as opened:
        session = opened.session("ada", "companion")
        await session.md.plant("users/ada/notes.md", title="Notes")
        await session.fs.append("users/ada/notes.md", "Laughed about the deadline today.")

A cancelled call either never began or runs to its end; it never stops halfway. The cancelled task continues
only once that is certain.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from garden.application import Garden, open_garden
from garden.events.records import Caller
from garden.gateway.dispatcher import Envelope
from garden.grammar.errors import GardenError
from garden.session import Session
from garden.surfaces.python.answers import Answer
from garden.surfaces.python.async_toolbelt import AsyncToolbelt

# One for each connection for writes; more threads would only wait for connections.
THREADS = 10

_Result = TypeVar("_Result")


class ClosedGardenError(GardenError):
    """A call came after the garden was closed."""

    code = "unavailable"


class WorkerThreads:
    """A fixed number of threads that run one call each."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="garden")

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Run work in a thread; a cancelled task waits for work that has begun and withdraws the rest."""
        try:
            begun = self._threads.submit(copy_context().run, work)
        except RuntimeError:
            raise ClosedGardenError(
                "This garden has been closed.", hint="Make calls inside 'async with garden.aio.open(...)'."
            ) from None
        future = asyncio.wrap_future(begun)
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            if not begun.cancel():
                await _wait_until_done(future)
            raise
        return future.result()

    async def close(self, then: Callable[[], None]) -> None:
        """Accept no more calls, wait for the running ones, then run `then`."""

        def end() -> None:
            self._threads.shutdown(wait=True)
            then()

        # Not in a worker thread, because it waits for those.
        closing = asyncio.get_running_loop().run_in_executor(None, end)
        await _wait_until_done(closing)
        closing.result()


class AsyncSession(AsyncToolbelt):
    """The tools for one actor in one garden, as coroutines.

    The typed methods return an `Answer` with result and meta, or raise a `GardenError`. `call` takes a tool's
    name and its JSON arguments and returns the envelope, for a refusal as well.
    """

    def __init__(self, session: Session, workers: WorkerThreads) -> None:
        super().__init__(self.ask)
        self._session = session
        self._workers = workers

    @property
    def caller(self) -> Caller:
        """The caller of every call."""
        return self._session.caller

    async def call(self, tool: str, args: Mapping[str, Any] | None = None) -> Envelope:
        """Call a tool by name."""
        return await self._workers.run(partial(self._session.call, tool, args))

    async def call_several(self, calls: object) -> dict[str, Any]:
        """Call several tools in order, each with `name` and `args`."""
        return await self._workers.run(partial(self._session.call_several, calls))

    async def archon(self, request: object) -> dict[str, Any]:
        """Carry out a request in the Archon envelope."""
        return await self._workers.run(partial(self._session.archon, request))

    async def ask(self, tool: str, fields: Mapping[str, Any]) -> Answer[Any]:
        """Call a tool by name and return what its typed method returns."""
        return await self._workers.run(partial(self._session.ask, tool, fields))


class AsyncGarden:
    """An open garden home for many tasks at once; `blocking` is the same garden for synchronous code."""

    def __init__(self, garden: Garden, workers: WorkerThreads) -> None:
        self.blocking = garden
        self._workers = workers

    def session(
        self,
        user_id: str,
        actor: str = "agent",
        *,
        role: str = "agent",
        transaction_id: str | None = None,
        agent_action_id: str | None = None,
    ) -> AsyncSession:
        """Open a session for one user; the ids are recorded with all of its events."""
        session = self.blocking.session(
            user_id, actor, role=role, transaction_id=transaction_id, agent_action_id=agent_action_id
        )
        return AsyncSession(session, self._workers)


@asynccontextmanager
async def open(  # noqa: A001 - read as garden.aio.open
    home: str | Path | None = None, *, create: bool = True, threads: int = THREADS
) -> AsyncIterator[AsyncGarden]:
    """Open the garden in this folder or in the settings' folder.

    A missing home is made, and the log names it; without `create` it is refused. At most `threads` calls run
    at the same time; others wait.
    """
    workers = WorkerThreads(threads)
    with ExitStack() as opened:
        try:
            garden = await workers.run(lambda: opened.enter_context(open_garden(home, create=create)))
            yield AsyncGarden(garden, workers)
        finally:
            await workers.close(opened.close)


async def _wait_until_done(future: "asyncio.Future[Any]") -> None:
    """Wait for a future even while the task is cancelled; then raise the cancellation."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
    # Retrieve the exception, so that the loop does not report it as never retrieved.
    future.exception()
    if cancelled is not None:
        raise cancelled
