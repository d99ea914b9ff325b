"""What changes in a user's garden, as the protocol tells it: a resource was updated, the list changed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TypeVar

import structlog
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent

from garden.access.feed import Batch
from garden.access.threads import OverloadedError, TooManyCallsError, Workers
from garden.application import Garden
from garden.files.paths import GardenPath, Place
from garden.grammar.errors import GardenError
from garden.surfaces.mcp.resources import uri_of

_AGAIN_SECONDS = 1.0

Listener = Callable[[ServerEvent], None]
Result = TypeVar("Result")


class Changes:
    """The changes of one user's garden, followed for as long as anybody wants to know of them.

    All of it happens in the event loop; the feed is read in worker threads. It is what the SDK calls a bus.
    """

    def __init__(self, user_id: str, workers: Workers) -> None:
        self._user_id = user_id
        self._workers = workers
        self._listeners: dict[object, Listener] = {}
        self._followers = 0
        self._following: asyncio.Task[None] | None = None
        self._begun = asyncio.Event()

    @asynccontextmanager
    async def followed(self, garden: Garden) -> AsyncIterator[None]:
        """Follow the changes; those that come after this has been entered are told to who listens."""
        self._followers += 1
        if self._following is None:
            self._begun.clear()
            self._following = asyncio.get_running_loop().create_task(self._follow(garden))
        try:
            await self._begun.wait()
            yield
        finally:
            self._followers -= 1
            if not self._followers and self._following is not None:
                self._following.cancel()
                self._following = None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have a function told of every event; gives what ends that."""
        key = object()
        self._listeners[key] = listener

        def unsubscribe() -> None:
            self._listeners.pop(key, None)

        return unsubscribe

    async def publish(self, event: ServerEvent) -> None:
        """Tell everybody who listens."""
        for listener in list(self._listeners.values()):
            listener(event)

    async def _follow(self, garden: Garden) -> None:
        woken, loop = asyncio.Event(), asyncio.get_running_loop()

        def wake() -> None:
            loop.call_soon_threadsafe(woken.set)

        with garden.feed.watch(self._user_id, wake):
            position: str | None = None
            known: set[str] = set()
            while True:
                again: float | None = None
                try:
                    if position is None:
                        position = await self._run(partial(garden.feed.now, self._user_id))
                        known = await self._run(partial(_documents, garden, self._user_id))
                        self._begun.set()
                    position = await self._tell(garden, position, known)
                except GardenError as error:
                    # Whoever waits is better served without news than not at all; the feed wakes us again.
                    structlog.get_logger("garden.mcp").warning("changes can't be read", reason=error.message)
                    self._begun.set()
                    # That there was too much to do wakes nobody when it is over.
                    again = _AGAIN_SECONDS if isinstance(error, OverloadedError | TooManyCallsError) else None
                with suppress(TimeoutError):
                    async with asyncio.timeout(again):
                        await woken.wait()
                woken.clear()

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await self._workers.run(self._user_id, work)

    async def _tell(self, garden: Garden, position: str, known: set[str]) -> str:
        while True:
            batch = await self._run(partial(garden.feed.since, self._user_id, position))
            for path in _changed(batch):
                if path.text not in known:
                    known.add(path.text)
                    await self.publish(ResourcesListChanged())
                await self.publish(ResourceUpdated(uri_of(path)))
                await self.publish(ResourceUpdated(uri_of(path.history)))
            position = batch.position
            if batch.complete:
                return position


def _changed(batch: Batch) -> list[GardenPath]:
    """Give the documents that a batch says were changed, each once."""
    paths = dict.fromkeys(entry.path for entry in batch.entries if entry.what == "committed" and entry.path)
    return [path for path in map(GardenPath, paths) if path.place is Place.DOCUMENT]


def _documents(garden: Garden, user_id: str) -> set[str]:
    return {path.text for path in garden.services.files.documents(GardenPath(f"users/{user_id}"))}
