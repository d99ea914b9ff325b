"""The SDK's server, with a handler for each request of the protocol.

It imports nothing of the toolbelt: over stdio a client is greeted before the toolbelt is loaded.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions

import garden
from garden.surfaces.mcp.review import APPS
from garden.surfaces.mcp.texts import render_text

if TYPE_CHECKING:
    from garden.surfaces.mcp.handlers import Handlers

_GREETINGS = frozenset({"initialize", "server/discover"})


class GardenServer(Server):
    """The SDK's server; it always announces that the list of resources may change."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Describe the server and its capabilities."""
        options = notification_options or NotificationOptions(resources_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


def make_server(
    load_handlers: "Callable[[], Awaitable[Handlers]]", user_of: Callable[[ServerRequestContext], str]
) -> GardenServer:
    """Make a server that passes its requests to these handlers, as soon as they are loaded."""

    def forward_to(name: str) -> Callable[[ServerRequestContext, Any], Awaitable[Any]]:
        async def forward(context: ServerRequestContext, params: Any) -> Any:
            return await getattr(await load_handlers(), name)(context, params)

        return forward

    async def greet(context: ServerRequestContext, call_next: CallNext) -> HandlerResult:
        result = await call_next(context)
        if isinstance(result, dict):
            return {**result, "instructions": render_text("instructions", user=user_of(context))}
        return result

    def add_instructions(ctx: ServerRequestContext, call_next: CallNext) -> Awaitable[HandlerResult]:
        return greet(ctx, call_next) if ctx.method in _GREETINGS else call_next(ctx)

    server = GardenServer(
        "memory-garden",
        title="Memory Garden",
        version=garden.__version__,
        # No tool declares a header of its own, so no header can contradict a schema.
        get_tool_input_schema=lambda _: None,
        on_list_tools=forward_to("list_tools"),
        on_call_tool=forward_to("call_tool"),
        on_list_resources=forward_to("list_resources"),
        on_list_resource_templates=forward_to("list_resource_templates"),
        on_read_resource=forward_to("read_resource"),
        on_subscribe_resource=forward_to("subscribe"),
        on_unsubscribe_resource=forward_to("unsubscribe"),
        on_subscriptions_listen=forward_to("listen"),
        on_list_prompts=forward_to("list_prompts"),
        on_get_prompt=forward_to("get_prompt"),
        on_completion=forward_to("complete"),
    )
    server.add_notification_handler(
        "notifications/initialized", types.NotificationParams, forward_to("initialized")
    )
    server.extensions[APPS] = {}
    # Replaces the SDK's tracing of every message, which leads nowhere without an exporter.
    server.middleware[:] = [cast("ServerMiddleware[Any]", add_instructions)]
    return server
