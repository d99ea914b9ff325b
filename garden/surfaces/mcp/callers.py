"""Who asks: over stdio always the same, over HTTP whoever the request's token speaks for."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext

if TYPE_CHECKING:
    from garden.events.records import Caller

Context = ServerRequestContext[Any, Any]
CallerOf = Callable[[Context], "Caller"]
