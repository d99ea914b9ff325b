"""The tools as the protocol describes them, and their names here: clients take no dots."""

import re
from functools import cache
from typing import Any

import mcp_types as types

from garden.tools.declaration import Tool
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


def wire_name(name: str) -> str:
    """Return a tool's name in this protocol."""
    return name.replace(".", "_")


def with_wire_names(text: str) -> str:
    """Replace the tools' own names in a text with those of this protocol."""
    return _DOTTED.sub(lambda found: wire_name(found[0]), text)


_DOTTED = re.compile(rf"\b(?:{'|'.join(re.escape(name) for name in REGISTRY if '.' in name)})\b(?!\.[a-z])")


@cache
def tools_for(role: Role) -> tuple[types.Tool, ...]:
    """Describe the tools that a role may use."""
    return tuple(_description(tool) for tool in REGISTRY.values() if role in tool.traits.roles)


def _description(tool: Tool[Any]) -> types.Tool:
    traits = tool.traits
    return types.Tool(
        name=wire_name(tool.name),
        title=tool.title,
        description=with_wire_names(f"{tool.summary} {tool.description}"),
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
