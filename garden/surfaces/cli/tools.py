"""The commands that use the agent's tools directly: `call`, `tools`."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from garden.grammar.errors import GardenError
from garden.surfaces.cli.desk import fail_usage, invocation, open_garden, read_stdin, resolve_user
from garden.surfaces.cli.options import Actor, AsJson, User, complete_tools

if TYPE_CHECKING:
    from garden.tools.declaration import Tool

RoleName = Literal["agent", "reviewer", "maintainer"]


class ArgumentsError(GardenError):
    """The arguments of a call are not valid JSON."""

    code = "invalid_input"


def call(
    context: typer.Context,
    tool: Annotated[
        str,
        typer.Argument(help="The tool's name; `garden tools` lists them.", autocompletion=complete_tools),
    ],
    arguments: Annotated[
        str, typer.Argument(metavar="[JSON | -]", help="The arguments as JSON, or - to read them from stdin.")
    ] = "{}",
    user: User = None,
    actor: Actor = "operator",
    role: Annotated[RoleName, typer.Option(help="Role to call in.")] = "agent",
    pretty: Annotated[
        bool, typer.Option("--pretty", help="Print the answer indented, as on a terminal.")
    ] = False,
    _as_json: AsJson = False,
) -> None:
    """Call a tool and print its answer as one JSON object.

    Exit code 0 if the answer is ok, 1 if it is an error, 2 for wrong usage.

    Examples:
    garden call tools.list --user ada

    garden call tools.help '{"tool": "md.patch_section"}' --user ada

    garden call md.plant '{"path": "users/ada/parts/child/notes.md"}' --user ada

    garden call fs.append '{"path": "users/ada/notes.md", "text": "Slept well."}' --user ada

    echo '{"path": "users/ada/notes.md"}' | garden call fs.read - --user ada
    """
    from garden.access.dispatcher import refusal
    from garden.surfaces.cli.interrupts import delay_interrupt
    from garden.surfaces.cli.render import show_json

    # From here on every error is an envelope, even a wrong setting.
    invocation(context).as_json = True
    try:
        user = resolve_user(context, user)
        args = _parse_arguments(user, actor, role, arguments)
        with open_garden(context) as garden, delay_interrupt():
            envelope = garden.session(user, actor, role=role).call(tool, args)
            show_json(envelope, indent=2 if pretty or sys.stdout.isatty() else None)
    except GardenError as error:
        envelope = refusal(error)
        show_json(envelope, indent=2 if pretty or sys.stdout.isatty() else None)
    if not envelope["ok"]:
        raise typer.Exit(1)


def _parse_arguments(user: str, actor: str, role: str, arguments: str) -> Any:
    from garden.writing.callers import make_caller

    make_caller(user, actor, role)
    try:
        text = read_stdin().decode() if arguments == "-" else arguments
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ArgumentsError(
            f"The arguments are not valid JSON: {error}.",
            hint="""Quote them: '{"path": "users/ada/notes.md"}', or give - and pass them on stdin.""",
        ) from None


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def tools(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="Explain this tool in full.", autocompletion=complete_tools)
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schemas of the tool's request and result.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the tools, or explain one.

    Examples:
    garden tools

    garden tools md.patch_section

    garden tools fs.read --schema
    """
    from garden.surfaces.cli.render import show_json, show_table
    from garden.tools.registry import REGISTRY
    from garden.tools.requests import find_tool
    from garden.tools.tool_help import page_of

    if name is None:
        if schema:
            fail_usage(context, "--schema needs the name of a tool.")
        if as_json:
            show_json([_summary(tool) for tool in REGISTRY.values()])
            return
        show_table(
            ("tool", "", "what it does"),
            (
                (tool.name, "writes" if tool.traits.writes else "reads", tool.summary)
                for tool in REGISTRY.values()
            ),
        )
        return
    tool = find_tool(REGISTRY, name)
    if schema:
        show_json({"request": tool.request_schema, "result": tool.result_schema})
    elif as_json:
        show_json(page_of(tool).model_dump(by_alias=True))
    else:
        _explain(tool)


def _summary(tool: "Tool[Any]") -> dict[str, Any]:
    return {
        "name": tool.name,
        "summary": tool.summary,
        "writes": tool.traits.writes,
        "roles": sorted(tool.traits.roles),
    }


def _explain(tool: "Tool[Any]") -> None:
    from garden.surfaces.cli.render import say, show_table

    say(f"{tool.name}: {tool.title}\n")
    say(f"{tool.summary} {tool.description}\n")
    say(
        f"It {'writes' if tool.traits.writes else 'reads'}, for the roles "
        f"{', '.join(sorted(tool.traits.roles))}.\n"
    )
    rows = list(_parameters(tool.request_schema))
    if rows:
        show_table(("parameter", "type", "needed", "what it is"), rows)
        say("")
    user = " --role maintainer" if "agent" not in tool.traits.roles else ""
    example = json.dumps(dict(tool.example), ensure_ascii=False).replace("'", "'\\''")
    say(f"Example: garden call {tool.name} '{example}' --user ada{user}")


def _parameters(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    required = schema.get("required", ())
    fields = schema.get("properties", {})
    for name, field in sorted(fields.items(), key=lambda item: item[0] not in required):
        yield name, _type_of(field), "yes" if name in required else "", field.get("description", "")


def _type_of(field: Mapping[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(
            dict.fromkeys(_type_of(each) for each in field["anyOf"] if each.get("type") != "null")
        )
    if "enum" in field:
        return "|".join(map(str, field["enum"]))
    if "$ref" in field:
        return "object"
    if field.get("type") == "array":
        inner = field.get("items")
        return f"list of {_type_of(inner)}s" if inner else "list"
    return str(field.get("type", "any"))
