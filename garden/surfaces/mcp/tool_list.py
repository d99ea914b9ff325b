"""The tools as the protocol describes them."""

from functools import cache
from typing import Any

import mcp_types as types

from garden.home.settings import Profile
from garden.tools.declaration import Tool
from garden.tools.descriptions import tool_list, tools_in
from garden.tools.registry import REGISTRY
from garden.writing.callers import Role

_META = {
    "type": "object",
    "description": "Warnings, tookMs and, where they apply, eventId, documentHash and more.",
}
_ERROR = {
    "type": "object",
    "description": "Why the call was refused; it changed nothing.",
    "properties": {
        "code": {"type": "string", "description": "A stable word for programs."},
        "message": {"type": "string"},
        "hint": {"type": "string", "description": "What to do next."},
        "details": {"type": "object"},
    },
    "required": ["code", "message", "hint", "details"],
}


@cache
def tools_for(
    role: Role, profile: Profile = "full", *, output_schemas: bool = False
) -> tuple[types.Tool, ...]:
    """Describe the tools of a profile that a role may use."""
    listed = tools_in(profile, [tool for tool in REGISTRY.values() if role in tool.traits.roles])
    described = zip(listed, tool_list("mcp", listed), strict=True)
    return tuple(
        types.Tool.model_validate({**each, "outputSchema": envelope_schema(tool) if output_schemas else None})
        for tool, each in described
    )


def envelope_schema(tool: Tool[Any]) -> dict[str, Any]:
    """Return the schema of every answer of a tool, refusals included."""
    result = dict(tool.result_schema)
    definitions = {"$defs": result.pop("$defs")} if "$defs" in result else {}
    return {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, "result": result, "meta": _META, "error": _ERROR},
        "required": ["ok"],
        "oneOf": [
            {"properties": {"ok": {"const": True}}, "required": ["result", "meta"]},
            {"properties": {"ok": {"const": False}}, "required": ["error"]},
        ],
        **definitions,
    }
