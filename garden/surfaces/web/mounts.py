"""Other surfaces below paths of the service, behind the same door."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from garden.surfaces.web.authentication import Door, is_still_welcome
from garden.surfaces.web.intake import ABORT, MOUNTED_AT


class Mount(Protocol):
    """A surface that may be put below a path."""

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; the scope names the caller."""
        ...

    def run(self) -> AbstractAsyncContextManager[None]:
        """Be ready for as long as the block lasts."""
        ...

    def stop(self) -> None:
        """End what would last for as long as its client wants."""
        ...


class Mounts:
    """Passes what is below a mount's path to it, and all else to the application.

    A mount may answer for hours. Every so many seconds, and before anything more is told, it is asked again
    whether the caller may be let in, and the connection of who may not is cut.
    """

    def __init__(self, app: ASGIApp, mounts: Mapping[str, Mount], door: Door, seconds: float) -> None:
        self._app = app
        self._mounts = mounts
        self._door = door
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            for path, mount in self._mounts.items():
                if scope["path"] == path or scope["path"].startswith(f"{path}/"):
                    scope[MOUNTED_AT] = path
                    await self._answer(mount, scope, receive, send)
                    return
        await self._app(scope, receive, send)

    async def _answer(self, mount: Mount, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)

        async def guarded(message: Message) -> None:
            # The door keeps its answer for a moment, so that to ask it each time costs nothing.
            if message.get("body") and not await is_still_welcome(self._door, headers):
                scope[ABORT]()
                return
            await send(message)

        watching = asyncio.create_task(self._watch(scope, headers))
        try:
            await mount.app(scope, receive, guarded)
        finally:
            watching.cancel()

    async def _watch(self, scope: Scope, headers: Headers) -> None:
        await asyncio.sleep(self._seconds)
        while await is_still_welcome(self._door, headers):
            await asyncio.sleep(self._seconds)
        scope[ABORT]()
