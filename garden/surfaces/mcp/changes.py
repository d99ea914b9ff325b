"""Changes in one user's garden as the protocol's events: a resource was updated, or the list changed."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated

from garden.application import Garden
from garden.files.paths import GardenPath, PathNotAllowedError, Place
from garden.gateway.feed import Batch, Follower
from garden.grammar.errors import GardenError
from garden.home.logs import get_logger
from garden.surfaces.mcp.resources import uri_of


class Changes(InMemorySubscriptionBus):
    """Publishes the changes of one user's garden while at least one reader follows them.

    Used from the event loop alone; the feed is read in threads.
    """

    def __init__(self, user_id: str) -> None:
        super().__init__()
        self._user_id = user_id
        self._readers = 0
        self._publishing: asyncio.Task[None] | None = None
        self._begun = asyncio.Event()

    @asynccontextmanager
    async def follow(self, garden: Garden) -> AsyncIterator[None]:
        """Publish every change that happens inside the block."""
        self._readers += 1
        if self._publishing is None:
            self._begun.clear()
            self._publishing = asyncio.get_running_loop().create_task(self._publish_feed(garden))
        try:
            await self._begun.wait()
            yield
        finally:
            self._readers -= 1
            if not self._readers and self._publishing is not None:
                self._publishing.cancel()
                self._publishing = None

    async def _publish_feed(self, garden: Garden) -> None:
        follower = Follower(garden.feed, self._user_id)
        with follower.watch():
            known: set[str] | None = None
            while known is None:
                try:
                    await follower.find_position()
                    known = await follower.run(lambda: _documents(garden, self._user_id))
                    self._begun.set()
                except GardenError as error:
                    get_logger("garden.mcp").warning("changes can't be read", reason=error.message)
                    # Readers do better without news than waiting; the feed wakes this when the database is
                    # back.
                    self._begun.set()
                    await follower.wait()
            while True:
                for path in _changed_documents(await follower.next()):
                    if path.text not in known:
                        known.add(path.text)
                        await self.publish(ResourcesListChanged())
                    await self.publish(ResourceUpdated(uri_of(path)))
                    await self.publish(ResourceUpdated(uri_of(path.history)))


def _changed_documents(batch: Batch) -> Iterator[GardenPath]:
    """Yield each document that a batch's committed events changed, once.

    Events that were tampered with may hold an impossible path; the news of other documents continues.
    """
    for text in dict.fromkeys(entry.path for entry in batch.entries if entry.what == "committed"):
        with suppress(PathNotAllowedError):
            path = GardenPath(text) if text else None
            if path is not None and path.place is Place.DOCUMENT:
                yield path


def _documents(garden: Garden, user_id: str) -> set[str]:
    return {path.text for path in garden.services.files.live_documents(GardenPath(f"users/{user_id}"))}
