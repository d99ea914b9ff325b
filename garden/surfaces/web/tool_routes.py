"""`/v1/tools`: every tool of the registry by its name; `/v1/calls` and `/v1/archon`: several at once."""

from typing import Any

from fastapi import APIRouter, Request, Response

from garden.grammar.errors import GardenError
from garden.session import Session
from garden.surfaces.web import openapi
from garden.surfaces.web.calls import Calls
from garden.surfaces.web.routes import Handler, add
from garden.tools.declaration import Tool
from garden.tools.registry import REGISTRY
from garden.tools.requests import find_tool


def add_tool_routes(router: APIRouter, calls: Calls) -> None:
    """Add a route for each tool, and those that list and explain them."""

    def caller_of(tool: Tool[Any]) -> Handler:
        async def call(request: Request) -> Response:
            return await calls.call_with_body(request, tool)

        return call

    async def list_tools(request: Request) -> Response:
        return await calls.call(request, "tools.list", {})

    async def explain(request: Request) -> Response:
        return await calls.call(request, "tools.help", {"tool": request.path_params["name"]})

    async def call_by_other_name(request: Request) -> Response:
        name = request.path_params["name"]
        try:
            tool = find_tool(REGISTRY, name)
        except GardenError:
            # The dispatcher refuses it, and the account has it.
            return await calls.call(request, name, {})
        return await calls.call_with_body(request, tool)

    async def archon(request: Request) -> Response:
        return await calls.call_several(request, Session.archon)

    async def several(request: Request) -> Response:
        return await calls.call_several(request, Session.call_several)

    for tool in REGISTRY.values():
        name = f"call_{tool.name.replace('.', '_')}"
        add(router, "POST", f"/v1/tools/{tool.name}", caller_of(tool), name, openapi.call_tool(tool))
    # An underscore may replace the dot, and a request to delete has an answer of its own.
    add(router, "POST", "/v1/tools/{name}", call_by_other_name, "call_by_another_name", None)
    add(router, "POST", "/v1/archon", archon, "carry_out_archon", openapi.carry_out_archon())
    add(router, "POST", "/v1/calls", several, "call_several_tools", openapi.call_several())
    add(router, "GET", "/v1/tools", list_tools, "list_tools", openapi.list_tools())
    add(router, "GET", "/v1/tools/{name}", explain, "explain_a_tool", openapi.explain_tool())
