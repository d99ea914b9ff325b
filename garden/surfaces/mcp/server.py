"""The server of the SDK, with a handler for each request of the protocol.

It imports nothing of the toolbelt: over stdio a client is greeted before that is loaded.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions

import garden
from garden.surfaces.mcp.callers import Context
from garden.surfaces.mcp.texts import filled_in

if TYPE_CHECKING:
    from garden.surfaces.mcp.handlers import Handlers

_INTRODUCTIONS = frozenset({"initialize", "server/discover"})


class GardenServer(Server[Any]):
    """The SDK's server, which always says that the list of resources may change."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Say what the server is and can do."""
        told = notification_options or NotificationOptions(resources_changed=True)
        return super().create_initialization_options(told, experimental_capabilities, extensions)


def make_server(
    handlers: "Callable[[], Awaitable[Handlers]]", user_of: Callable[[Context], str]
) -> GardenServer:
    """Make a server whose requests go to these handlers, as soon as there are any."""

    def late(name: str) -> Callable[[Context, Any], Awaitable[Any]]:
        async def handle(context: Context, params: Any) -> HandlerResult:
            result: HandlerResult = await getattr(await handlers(), name)(context, params)
            return result

        return handle

    async def introduce(ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method in _INTRODUCTIONS and isinstance(result, dict):
            return {**result, "instructions": filled_in("instructions", user=user_of(ctx))}
        return result

    server = GardenServer(
        "memory-garden",
        title="Memory Garden",
        version=garden.__version__,
        # No tool declares a header of its own, so there is nothing that a header could contradict.
        get_tool_input_schema=lambda _: None,
        on_list_tools=late("list_tools"),
        on_call_tool=late("call_tool"),
        on_list_resources=late("list_resources"),
        on_list_resource_templates=late("list_resource_templates"),
        on_read_resource=late("read_resource"),
        on_subscribe_resource=late("subscribe"),
        on_unsubscribe_resource=late("unsubscribe"),
        on_subscriptions_listen=late("listen"),
        on_list_prompts=late("list_prompts"),
        on_get_prompt=late("get_prompt"),
        on_completion=late("complete"),
    )
    server.add_notification_handler(
        "notifications/initialized", types.NotificationParams, late("initialized")
    )
    # In the place of the spans that the SDK makes of every message: without an exporter they go nowhere.
    server.middleware[:] = [introduce]
    return server
