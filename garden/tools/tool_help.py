"""`tools.list` and `tools.help`."""

from typing import Any

from pydantic import Field

from garden.events.wire import Wire
from garden.tools.declaration import Call, Reply, Tool, Traits
from garden.tools.requests import find_tool
from garden.tools.wire import Request


class ToolsListRequest(Request):
    """No fields."""


class ToolLine(Wire):
    """One tool in the list."""

    name: str
    summary: str
    writes: bool
    allowed: bool


class ToolsHelpRequest(Request):
    """The tool to explain, or none for a list."""

    tool: str | None = Field(None, description="The tool's name; without one, every tool is listed.")


class ToolPage(Wire):
    """Everything about one tool."""

    name: str
    title: str
    summary: str
    description: str
    writes: bool
    roles: list[str]
    request_schema: dict[str, Any]
    result_schema: dict[str, Any]
    example: dict[str, Any]


def list_tools(call: Call, _request: ToolsListRequest) -> Reply:
    """List every tool."""
    return Reply(
        [
            ToolLine(
                name=tool.name,
                summary=tool.summary,
                writes=tool.traits.writes,
                allowed=_is_offered(call, tool),
            )
            for tool in call.tools.values()
        ]
    )


def explain_tool(call: Call, request: ToolsHelpRequest) -> Reply:
    """Explain one tool, or name in a line each those that the caller may use."""
    if request.tool is not None:
        return Reply(page_of(find_tool(call.tools, request.tool)))
    return Reply([f"{tool.name}: {tool.summary}" for tool in call.tools.values() if _is_offered(call, tool)])


def _is_offered(call: Call, tool: Tool[Any]) -> bool:
    return call.caller.role in tool.traits.roles and call.permission(tool) != "deny"


def page_of(tool: Tool[Any]) -> ToolPage:
    """Make the page about a tool."""
    return ToolPage(
        name=tool.name,
        title=tool.title,
        summary=tool.summary,
        description=tool.description,
        writes=tool.traits.writes,
        roles=sorted(tool.traits.roles),
        request_schema=tool.request_schema,
        result_schema=tool.result_schema,
        example=dict(tool.example),
    )


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "tools.list",
        "List the tools",
        "List every tool with its purpose and whether you may use it.",
        "Use tools.help for the details of one tool.",
        ToolsListRequest,
        list[ToolLine],
        list_tools,
        Traits(cost="light"),
        {},
    ),
    Tool(
        "tools.help",
        "Explain a tool",
        "Show a tool's fields and an example, or list every tool; you can call any of them by its name.",
        "The page of a tool has its description, the schemas of its request and its result, and an example "
        "that you can send as it is, with paths of your own user.",
        ToolsHelpRequest,
        ToolPage | list[str],
        explain_tool,
        Traits(cost="light"),
        {"tool": "md.patch_section"},
        positional="tool",
    ),
)
