"""`/v1/tools`: every tool of the registry by its name."""

from typing import Any

from fastapi import APIRouter, Request, Response

from garden.surfaces.web import openapi
from garden.surfaces.web.calls import Calls
from garden.surfaces.web.routes import Handler, add
from garden.tools.declaration import Tool
from garden.tools.registry import REGISTRY
from garden.tools.requests import find_tool


def add_tool_routes(router: APIRouter, calls: Calls) -> None:
    """Add a route for each tool, and those that name and explain them."""

    async def listed(request: Request) -> Response:
        return await calls.call(request, "tools.list", {})

    async def explained(request: Request) -> Response:
        return await calls.call(request, "tools.help", {"tool": request.path_params["name"]})

    async def by_another_name(request: Request) -> Response:
        return await calls.call_with_body(request, find_tool(REGISTRY, request.path_params["name"]))

    for tool in REGISTRY.values():
        described = openapi.tool_operation(tool)
        add(
            router,
            "POST",
            f"/v1/tools/{tool.name}",
            _calling(calls, tool),
            f"call_{tool.name.replace('.', '_')}",
            described,
        )
    # A dot may be an underscore, and asking for a delete has an answer of its own.
    add(router, "POST", "/v1/tools/{name}", by_another_name, "call_by_another_name", None)
    add(router, "GET", "/v1/tools", listed, "list_tools", openapi.listing_tools())
    add(router, "GET", "/v1/tools/{name}", explained, "explain_a_tool", openapi.explaining_a_tool())


def _calling(calls: Calls, tool: Tool[Any]) -> Handler:
    async def called(request: Request) -> Response:
        return await calls.call_with_body(request, tool)

    return called
