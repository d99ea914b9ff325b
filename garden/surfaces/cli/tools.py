"""The commands that use the agent's tools directly: `call`, `tools`."""

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from garden.grammar.errors import GardenError
from garden.surfaces.cli.desk import (
    fail_usage,
    invocation,
    open_garden,
    open_session,
    parse_json,
    read_file,
    read_stdin,
    resolve_user,
)
from garden.surfaces.cli.options import Actor, AsJson, User, complete_tools
from garden.surfaces.cli.typer_classes import GroupWithDefault

if TYPE_CHECKING:
    from garden.gateway.policies import Rules
    from garden.tools.declaration import Tool

RoleName = Literal["agent", "reviewer", "maintainer"]
_ProfileName = Literal["lean", "full"]
ListFormat = Literal["anthropic", "openai", "mcp", "gemini"]
_Role = Annotated[RoleName, typer.Option(help="Role to call in.")]


def call(
    context: typer.Context,
    tool: Annotated[
        str | None,
        typer.Argument(help="The tool's name; `garden tools` lists them.", autocompletion=complete_tools),
    ] = None,
    arguments: Annotated[
        str, typer.Argument(metavar="[JSON | -]", help="The arguments as JSON, or - to read them from stdin.")
    ] = "{}",
    many: Annotated[
        str | None,
        typer.Option(
            metavar="FILE | -",
            help='Make several calls: [{"name": "fs.read", "args": {...}}, ...]; or a transaction.',
        ),
    ] = None,
    user: User = None,
    actor: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Actor of every event; without it agent, or operator in another role."
        ),
    ] = None,
    role: _Role = "agent",
    pretty: Annotated[
        bool, typer.Option("--pretty", help="Print the answer indented, as on a terminal.")
    ] = False,
    archon: Annotated[
        str | None,
        typer.Option(
            metavar="FILE | -", help="Carry out the Archon request in this file; - reads it from stdin."
        ),
    ] = None,
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

    garden call --archon request.json --user ada
    echo '[{"name": "tools.list"}]' | garden call --many - --user ada
    """
    from garden.gateway.dispatcher import refusal
    from garden.surfaces.cli.interrupts import delay_interrupt
    from garden.surfaces.cli.render import show_json

    if [tool, archon, many].count(None) != 2:
        fail_usage(context, "Name a tool, or give --archon or --many alone.")
    # From here on every error is an envelope, even a wrong setting.
    invocation(context).as_json = True
    actor = ("agent" if role == "agent" else "operator") if actor is None else actor
    try:
        user = resolve_user(context, user)
        with open_garden(context) as garden, delay_interrupt():
            session = open_session(garden, user, actor, role)
            if many is not None:
                envelope = session.call_several(parse_json(read_file(context, many), many))
            elif archon is not None:
                envelope = session.archon(parse_json(read_file(context, archon), archon))
            else:
                given = read_stdin() if arguments == "-" else arguments
                envelope = session.call(tool or "", parse_json(given, "The text of the arguments"))
            show_json(envelope, indent=2 if pretty or sys.stdout.isatty() else None)
    except GardenError as error:
        envelope = refusal(error)
        show_json(envelope, indent=2 if pretty or sys.stdout.isatty() else None)
    if not envelope.get("ok", envelope.get("success")):
        raise typer.Exit(1)


class _ToolsGroup(GroupWithDefault):
    default = "show"

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        return super().parse_args(ctx, args or [self.default])


app = typer.Typer(cls=_ToolsGroup, rich_markup_mode=None, help="List or explain tools: garden tools fs.read.")


@app.command()
def prompt(
    context: typer.Context, user: User = None, actor: Actor = "agent", role: _Role = "agent",
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Print the house rules and a caller's tools for a system prompt.

    Examples:
    garden tools prompt --user ada --role reviewer
    """
    from garden.surfaces.cli.render import show_json

    user = resolve_user(context, user)
    with open_garden(context) as garden:
        text = garden.session(user, actor, role=role).prompt()
    show_json(text) if as_json else print(text)


@app.command()
def export(
    context: typer.Context,
    list_format: Annotated[ListFormat, typer.Option("--format", help="Whose tool lists to write.")],
    profile: Annotated[_ProfileName, typer.Option(help="All tools, or the lean list.")] = "full",
    user: User = None, actor: Actor = "agent", role: _Role = "agent", _as_json: AsJson = False,
) -> None:  # fmt: skip
    """Print a caller's tools as JSON, as a model service wants them.

    Examples:
    garden tools export --format anthropic --user ada
    """
    from garden.surfaces.cli.render import show_json

    user = resolve_user(context, user)
    with open_garden(context) as garden:
        show_json(garden.session(user, actor, role=role).tool_list(list_format, profile))


@app.command()
def show(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="Explain this tool in full.", autocompletion=complete_tools)
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schemas of the tool's request and result.")
    ] = False,
    actor: Actor = "operator",
    as_json: AsJson = False,
) -> None:
    """List the tools, or explain one.

    Examples:
    garden tools

    garden tools --actor companion

    garden tools md.patch_section

    garden tools show fs.read --schema
    """
    from garden.surfaces.cli.policy import home_rules
    from garden.surfaces.cli.render import show_json, show_table
    from garden.tools.registry import REGISTRY
    from garden.tools.requests import find_tool
    from garden.tools.tool_help import page_of

    if name is None:
        if schema:
            fail_usage(context, "--schema needs the name of a tool.")
        rules = home_rules(context, actor)
        if as_json:
            show_json(
                [
                    {**_summary(tool), "allowed": rules.permission(tool) != "deny"}
                    for tool in REGISTRY.values()
                ]
            )
        else:
            rows = ((tool.name, _kind(tool, rules), tool.summary) for tool in REGISTRY.values())
            show_table(("tool", "", "what it does"), rows)
        return
    tool = find_tool(REGISTRY, name)
    if schema:
        show_json({"request": tool.request_schema, "result": tool.result_schema})
    elif as_json:
        show_json(page_of(tool).model_dump(by_alias=True))
    else:
        _explain(tool)


def _kind(tool: "Tool[Any]", rules: "Rules") -> str:
    kind = "writes" if tool.traits.writes else "reads"
    return kind if rules.permission(tool) != "deny" else f"{kind}, not for you"


def _summary(tool: "Tool[Any]") -> dict[str, Any]:
    return {
        "name": tool.name,
        "summary": tool.summary,
        "writes": tool.traits.writes,
        "roles": sorted(tool.traits.roles),
    }


def _explain(tool: "Tool[Any]") -> None:
    from garden.surfaces.cli.render import say, show_table
    from garden.tools.descriptions import parameters_of

    say(f"{tool.name}: {tool.title}\n")
    say(f"{tool.summary} {tool.description}\n")
    say(
        f"It {'writes' if tool.traits.writes else 'reads'}, for the roles "
        f"{', '.join(sorted(tool.traits.roles))}.\n"
    )
    rows = [(name, kind, "yes" if needed else "", what) for name, kind, needed, what in parameters_of(tool)]
    if rows:
        show_table(("parameter", "type", "needed", "what it is"), rows)
        say("")
    user = " --role maintainer" if "agent" not in tool.traits.roles else ""
    example = json.dumps(dict(tool.example), ensure_ascii=False).replace("'", "'\\''")
    say(f"Example: garden call {tool.name} '{example}' --user ada{user}")
