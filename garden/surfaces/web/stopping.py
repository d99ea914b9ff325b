"""That the service is about to stop, known to all who have to end something before."""

import asyncio


class Stopping:
    """A moment that comes once."""

    def __init__(self) -> None:
        self._begun = asyncio.Event()

    @property
    def has_begun(self) -> bool:
        """Whether it has come."""
        return self._begun.is_set()

    def begin(self) -> None:
        """Say that it has come; call it in the event loop."""
        self._begun.set()

    async def wait(self) -> None:
        """Wait for it."""
        await self._begun.wait()
