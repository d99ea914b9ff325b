"""The MCP endpoint behind a real server on a port of its own; the bearer token names the caller."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from garden.application import Garden
from garden.events.records import Caller
from garden.gateway.threads import CallThreads
from garden.surfaces.mcp.http import McpEndpoint


class Service:
    """The endpoint as an ASGI application; `Bearer user.role` authenticates any caller."""

    def __init__(self, garden: Garden, limits: dict[str, Any]) -> None:
        self._threads = CallThreads()
        self.endpoint = McpEndpoint(garden, self._threads, **limits)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/mcp"
        self._lifespan_app = Starlette(lifespan=self._lifespan)
        config = uvicorn.Config(self, lifespan="on", log_config=None, timeout_graceful_shutdown=30)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self.listener]})
        self._up = threading.Event()

    def start(self) -> None:
        """Start the server."""
        self._thread.start()
        assert self._up.wait(60)

    def stop(self) -> None:
        """Stop as a service does: end the streams and finish the calls under way."""
        self._loop.call_soon_threadsafe(self.endpoint.stop)
        self._server.should_exit = True
        self._thread.join()
        self._threads.close()
        self.listener.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan_app(scope, receive, send)
            return
        user_id, _, role = Headers(scope=scope)["authorization"].removeprefix("Bearer ").partition(".")
        scope["garden.caller"] = Caller(user_id, "companion", role)
        await self.endpoint.app(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        self._loop = asyncio.get_running_loop()
        async with self.endpoint.run():
            self._up.set()
            yield


@contextmanager
def served(garden: Garden, **limits: Any) -> Iterator[Service]:
    """Serve a garden while the block lasts."""
    service = Service(garden, limits)
    service.start()
    try:
        yield service
    finally:
        service.stop()
