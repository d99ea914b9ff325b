"""`tools.list` and `tools.help`: the tools, told by themselves."""

from typing import Any

from pydantic import Field

from garden.events.wire import Wire
from garden.tools.declaration import Call, Reply, Tool, Traits
from garden.tools.requests import find_tool
from garden.tools.wire import Request
from garden.writing.callers import Role


class ToolsListRequest(Request):
    """Nothing has to be said."""


class ToolLine(Wire):
    """One tool in a line."""

    name: str
    summary: str
    writes: bool
    allowed: bool


class ToolsHelpRequest(Request):
    """Which tool is to be explained."""

    tool: str = Field(description="Its name, as tools.list gives it.")


class ToolPage(Wire):
    """All there is to know of a tool."""

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
    """Name every tool."""
    role = Role(call.caller.role)
    return Reply(
        [
            ToolLine(
                name=tool.name,
                summary=tool.summary,
                writes=tool.traits.writes,
                allowed=role in tool.traits.roles,
            )
            for tool in call.tools.values()
        ]
    )


def help_with(call: Call, request: ToolsHelpRequest) -> Reply:
    """Explain one tool."""
    tool = find_tool(call.tools, request.tool)
    return Reply(
        ToolPage(
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
    )


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "tools.list",
        "List the tools",
        "Names every tool, what it is for, and whether you may use it.",
        "tools.help explains one of them.",
        ToolsListRequest,
        list[ToolLine],
        list_tools,
        Traits(cost="light"),
        {},
    ),
    Tool(
        "tools.help",
        "Explain a tool",
        "Gives a tool's description, the schemas of its request and result, and an example.",
        "The example is a call that can be sent as it stands, once the paths are yours.",
        ToolsHelpRequest,
        ToolPage,
        help_with,
        Traits(cost="light"),
        {"tool": "md.patch_section"},
    ),
)
