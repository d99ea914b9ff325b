"""The tools as the protocol describes them, made from the registry."""

from functools import cache
from typing import Any

import mcp_types as types

from garden.surfaces.mcp.tool_names import in_wire_names, wire_name
from garden.tools.declaration import Tool
from garden.tools.registry import REGISTRY
from garden.writing.callers import Role

_META = {
    "type": "object",
    "description": "What else there is: warnings, tookMs, where it applies eventId, documentHash and more.",
}
_ERROR = {
    "type": "object",
    "description": "Why it was refused; nothing was changed.",
    "properties": {
        "code": {"type": "string", "description": "A stable word for programs."},
        "message": {"type": "string"},
        "hint": {"type": "string", "description": "What to do next."},
        "details": {"type": "object"},
    },
    "required": ["code", "message", "hint", "details"],
}


@cache
def tools_for(role: Role) -> tuple[types.Tool, ...]:
    """Describe the tools that callers of a role may use."""
    return tuple(_described(tool) for tool in REGISTRY.values() if role in tool.traits.roles)


def _described(tool: Tool[Any]) -> types.Tool:
    traits = tool.traits
    return types.Tool(
        name=wire_name(tool.name),
        title=tool.title,
        description=in_wire_names(f"{tool.summary} {tool.description}"),
        input_schema=tool.request_schema,
        output_schema=envelope_schema(tool),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not traits.writes,
            destructive_hint=traits.replaces,
            idempotent_hint=traits.idempotent,
            open_world_hint=False,
        ),
    )


def envelope_schema(tool: Tool[Any]) -> dict[str, Any]:
    """Give the schema of everything that a tool may answer, refusals included."""
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
