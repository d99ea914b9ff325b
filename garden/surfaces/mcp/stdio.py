"""The protocol over standard input and output, for one caller.

A client is greeted before the toolbelt is loaded, and gets the list of tools before the database runs; calls
wait until the garden is open.
"""

import asyncio
import signal
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import uvloop

from garden.surfaces.mcp.server import make_server
from garden.surfaces.mcp.stdio_streams import Conversation, Incoming, Outgoing, claim_descriptors

if TYPE_CHECKING:
    from collections.abc import Callable

    from garden.application import Garden
    from garden.home.settings import Settings
    from garden.surfaces.mcp.handlers import Handlers

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def serve(
    open_garden: "Callable[[], Garden]", settings: "Settings", user_id: str, *, actor: str, role: str
) -> None:
    """Serve one conversation until its input ends or a signal asks the process to stop."""
    with claim_descriptors() as (reading, writing):
        uvloop.run(_converse(reading, writing, Loading(open_garden, settings, user_id, actor, role)))


class Loading:
    """Loads the toolbelt, and then opens the garden, beside the conversation.

    `on_failure` is called if the toolbelt can't be loaded: then no call can be served. A garden that can't be
    opened is tried again by the next call.
    """

    def __init__(
        self, open_garden: "Callable[[], Garden]", settings: "Settings", user_id: str, actor: str, role: str
    ) -> None:
        self.user_id = user_id
        self.on_failure: Callable[[], None] = lambda: None
        self._actor = actor
        self._role = role
        self._settings = settings
        self._open_garden = open_garden
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="garden-opening")
        self._loaded: asyncio.Future[Handlers] | None = None
        self._opened: Future[Garden] | None = None

    def begin(self) -> None:
        """Begin to load, unless it has begun."""
        if self._loaded is None:
            self._loaded = asyncio.get_running_loop().run_in_executor(None, self._load)
            self._loaded.add_done_callback(self._begin_to_open)

    async def handlers(self) -> "Handlers":
        """Wait until the toolbelt is loaded."""
        self.begin()
        assert self._loaded is not None  # noqa: S101
        return self._loaded.result() if self._loaded.done() else await asyncio.shield(self._loaded)

    async def garden(self) -> "Garden":
        """Wait until the garden is open; raises the reason if it can't be opened."""
        opened = self._opened
        if opened is None or (opened.done() and opened.exception() is not None):
            opened = self._opened = self._thread.submit(self._open_garden)
        if opened.done():
            return opened.result()
        # A cancelled caller must not cancel it for the others.
        return await asyncio.shield(asyncio.wrap_future(opened))

    async def close(self) -> None:
        """Finish the calls under way, then close the garden; raises the reason if nothing could be loaded."""
        if self._loaded is None:
            return
        handlers = await self.handlers()
        await asyncio.to_thread(handlers.close)
        await asyncio.to_thread(self._close_garden)

    def _begin_to_open(self, loaded: "asyncio.Future[Handlers]") -> None:
        if loaded.exception():
            self.on_failure()
        elif self._opened is None:
            self._opened = self._thread.submit(self._open_garden)

    def _close_garden(self) -> None:
        self._thread.shutdown()
        if self._opened is not None and self._opened.exception() is None:
            self._opened.result().close()

    def _load(self) -> "Handlers":
        from garden.gateway.threads import CallThreads
        from garden.surfaces.mcp.handlers import Handlers
        from garden.writing.callers import make_caller

        caller = make_caller(self.user_id, self._actor, self._role)
        from garden.gateway.policies import Policies
        from garden.tools.registry import REGISTRY

        policies = Policies(self._settings.gateway, self._settings.home, REGISTRY)
        return Handlers(self.garden, CallThreads(), lambda _: caller, policies, self._settings.mcp)


async def _converse(reading: int, writing: int, loading: Loading) -> None:
    server = make_server(loading.handlers, lambda _: loading.user_id)
    conversation = Conversation()
    outgoing = Outgoing(writing, conversation)
    incoming = Incoming(reading, conversation, outgoing)
    loading.on_failure = incoming.stop
    # Loading only begins after the greeting, which it would delay.
    conversation.on_first_answer = loading.begin
    loop = asyncio.get_running_loop()
    for each in _SIGNALS:
        loop.add_signal_handler(each, partial(_stop, loop, incoming))
    try:
        await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await loading.close()
        outgoing.close()


def _stop(loop: asyncio.AbstractEventLoop, incoming: Incoming) -> None:
    """Stop reading; a second signal ends the process at once."""
    for each in _SIGNALS:
        loop.remove_signal_handler(each)
        signal.signal(each, signal.SIG_DFL)
    incoming.stop()
