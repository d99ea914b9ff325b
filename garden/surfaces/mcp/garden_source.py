"""Where the garden comes from: it is open already, or is opened beside the conversation."""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from garden.application import Garden


class GardenSource(Protocol):
    """Gives the garden, as soon as there is one."""

    async def garden(self) -> "Garden":
        """Wait until it is open; raises why it can't be opened."""
        ...


class Open:
    """A garden that somebody else has opened, and will close."""

    def __init__(self, garden: "Garden") -> None:
        self._garden = garden

    async def garden(self) -> "Garden":
        """Give it."""
        return self._garden


class Opening:
    """A garden on its way to being open; where that failed, the next who needs it has it tried again."""

    def __init__(self, open_garden: "Callable[[], Garden]") -> None:
        self._open = open_garden
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="garden-opening")
        self._attempt: Future[Garden] | None = None

    def begin(self) -> None:
        """Begin to open it, unless that is under way or done."""
        attempt = self._attempt
        if attempt is None or (attempt.done() and attempt.exception() is not None):
            self._attempt = self._thread.submit(self._open)

    async def garden(self) -> "Garden":
        """Wait until it is open; raises why it can't be opened."""
        self.begin()
        attempt = self._attempt
        assert attempt is not None  # noqa: S101
        if attempt.done():
            return attempt.result()
        # Whoever gives up waiting does not take it away from the others.
        return await asyncio.shield(asyncio.wrap_future(attempt))

    def close(self) -> None:
        """Close it again, as soon as it is open."""
        self._thread.shutdown()
        attempt = self._attempt
        if attempt is not None and attempt.exception() is None:
            attempt.result().close()
