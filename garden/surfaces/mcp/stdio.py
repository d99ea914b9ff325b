"""The protocol over standard input and output, for one caller.

A client is greeted before anything of the toolbelt is loaded, and told what tools there are before the
database runs; calls wait until the garden is open.
"""

import asyncio
import signal
from functools import partial
from typing import TYPE_CHECKING

import uvloop

from garden.surfaces.mcp.garden_source import Opening
from garden.surfaces.mcp.server import make_server
from garden.surfaces.mcp.stdio_streams import Conversation, Incoming, Outgoing, claimed

if TYPE_CHECKING:
    from collections.abc import Callable

    from garden.application import Garden
    from garden.surfaces.mcp.handlers import Handlers

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def serve(open_garden: "Callable[[], Garden]", user_id: str, *, actor: str, role: str) -> None:
    """Serve one conversation until its input ends or the process is asked to stop."""
    with claimed() as (reading, writing):
        uvloop.run(_converse(reading, writing, Loading(open_garden, user_id, actor, role)))


class Loading:
    """The toolbelt on its way to being loaded, and then the garden to being open.

    `failed` is called where nobody can be served, by whatever garden.
    """

    def __init__(self, open_garden: "Callable[[], Garden]", user_id: str, actor: str, role: str) -> None:
        self.user_id = user_id
        self._said = (actor, role)
        self._opening = Opening(open_garden)
        self._loaded: asyncio.Future[Handlers] | None = None
        self.failed: Callable[[], None] = lambda: None

    def begin(self) -> None:
        """Begin, unless it has begun."""
        if self._loaded is None:
            self._loaded = asyncio.get_running_loop().run_in_executor(None, self._load)
            self._loaded.add_done_callback(self._go_on)

    def _go_on(self, loaded: "asyncio.Future[Handlers]") -> None:
        if loaded.exception():
            self.failed()
        else:
            self._opening.begin()

    async def handlers(self) -> "Handlers":
        """Wait until there are handlers."""
        self.begin()
        assert self._loaded is not None  # noqa: S101
        return self._loaded.result() if self._loaded.done() else await asyncio.shield(self._loaded)

    async def close(self) -> None:
        """Finish what has begun, and then close the garden; raises why nobody could be served."""
        if self._loaded is None:
            return
        handlers = await self.handlers()
        await asyncio.to_thread(handlers.close)
        await asyncio.to_thread(self._opening.close)

    def _load(self) -> "Handlers":
        from garden.access.threads import Workers
        from garden.surfaces.mcp.handlers import Handlers
        from garden.writing.callers import make_caller

        actor, role = self._said
        caller = make_caller(self.user_id, actor, role)
        return Handlers(self._opening, Workers(), lambda _: caller)


async def _converse(reading: int, writing: int, loading: Loading) -> None:
    server = make_server(loading.handlers, lambda _: loading.user_id)
    conversation = Conversation()
    outgoing = Outgoing(writing, conversation)
    incoming = Incoming(reading, conversation, outgoing)
    loading.failed = incoming.stop
    # The client is greeted first: what is loaded beside that would take its time.
    conversation.first_answer = loading.begin
    loop = asyncio.get_running_loop()
    for each in _SIGNALS:
        loop.add_signal_handler(each, partial(_stop, loop, incoming))
    try:
        await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await loading.close()
        outgoing.close()


def _stop(loop: asyncio.AbstractEventLoop, incoming: Incoming) -> None:
    """Stop reading; whoever asks a second time does not want to wait."""
    for each in _SIGNALS:
        loop.remove_signal_handler(each)
        signal.signal(each, signal.SIG_DFL)
    incoming.stop()
