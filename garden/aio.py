"""For async applications: an open garden whose calls are awaited while worker threads carry them out.

    async with garden.aio.open(home="my-garden") as opened:
        session = opened.session("ada", "companion")
        await session.md.plant("users/ada/notes.md", title="Notes")
        await session.fs.append("users/ada/notes.md", "Laughed about the deadline today.")

Whoever cancels an awaited call leaves the garden in one of two states: the call was never begun, or it has
been carried out to its end. It is never abandoned halfway, and the cancelled task goes on only when that is
settled.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from garden.access.dispatcher import Envelope
from garden.application import Garden, open_garden
from garden.events.records import Caller
from garden.grammar.errors import GardenError
from garden.session import Session
from garden.surfaces.python.answers import Answer
from garden.surfaces.python.async_toolbelt import AsyncToolbelt

# As many as the connections that changes may have; more threads would only wait for those.
THREADS = 10

Result = TypeVar("Result")


class ClosedGardenError(GardenError):
    """The garden has been closed, and a call came after that."""

    code = "unavailable"


class Workers:
    """So many threads, which carry out one call each."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="garden")

    async def run(self, work: Callable[[], Result]) -> Result:
        """Have a thread do it; a cancelled task waits for what was begun, and takes back what was not."""
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
                await _settled(future)
            raise
        return future.result()

    async def close(self, then: Callable[[], None]) -> None:
        """Wait until every call has ended, then do this; no later call begins."""

        def end() -> None:
            self._threads.shutdown(wait=True)
            then()

        # Not in one of the workers: they are what it waits for.
        closing = asyncio.get_running_loop().run_in_executor(None, end)
        await _settled(closing)
        closing.result()


class AsyncSession(AsyncToolbelt):
    """The tools, as one actor may use them in one garden, as coroutines.

    They answer with a result and what else there is to tell, or raise a `GardenError`. `call` takes a tool's
    name and its arguments as they travel, and answers with the envelope; a refusal is one as well.
    """

    def __init__(self, session: Session, workers: Workers) -> None:
        super().__init__(self.ask)
        self._session = session
        self._workers = workers

    @property
    def caller(self) -> Caller:
        """Who acts."""
        return self._session.caller

    async def call(self, tool: str, args: Mapping[str, Any] | None = None) -> Envelope:
        """Call a tool by its name."""
        return await self._workers.run(partial(self._session.call, tool, args))

    async def ask(self, tool: str, fields: Mapping[str, Any]) -> Answer[Any]:
        """Call a tool by its name, and have what its typed method gives."""
        return await self._workers.run(partial(self._session.ask, tool, fields))


class AsyncGarden:
    """An open garden home, which many tasks may use at once; `blocking` is the same one for other code."""

    def __init__(self, garden: Garden, workers: Workers) -> None:
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
        """Act for one user; the ids are recorded with all that happens in the session."""
        session = self.blocking.session(
            user_id, actor, role=role, transaction_id=transaction_id, agent_action_id=agent_action_id
        )
        return AsyncSession(session, self._workers)


@asynccontextmanager
async def open(  # noqa: A001 - read as garden.aio.open
    home: str | Path | None = None, *, threads: int = THREADS
) -> AsyncIterator[AsyncGarden]:
    """Open the garden in this folder, or in the one that the settings name; what is missing is made.

    At most so many calls as there are threads are carried out at the same time; others wait for their turn.
    """
    workers = Workers(threads)
    with ExitStack() as opened:
        try:
            garden = await workers.run(lambda: opened.enter_context(open_garden(home)))
            yield AsyncGarden(garden, workers)
        finally:
            await workers.close(opened.close)


async def _settled(future: "asyncio.Future[Any]") -> None:
    """Wait until it is done, also in a task that is being cancelled; only then say that it was."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
    # Looked at, so that the loop does not report as forgotten what nobody is left to hear.
    future.exception()
    if cancelled is not None:
        raise cancelled
