"""The commands `garden policy ...`: explain what the policies let an actor do."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from garden.surfaces.cli.desk import fail_usage, open_garden, read_settings
from garden.surfaces.cli.options import AsJson, complete_tools

if TYPE_CHECKING:
    from collections.abc import Mapping

    from garden.gateway.policies import Rules

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Explain what policies let an actor do.")


@app.callback()
def policy() -> None:
    """Keep `explain` a command of its own: a group of one would be called without its name."""


@app.command()
def explain(
    context: typer.Context,
    actor: Annotated[str, typer.Option(metavar="NAME", help="The actor whose calls are meant.")],
    tool: Annotated[
        str, typer.Option(metavar="TOOL", help="The tool it would call.", autocompletion=complete_tools)
    ],
    token: Annotated[str | None, typer.Option(metavar="ID", help="The token it would send.")] = None,
    as_json: AsJson = False,
) -> None:
    """Explain whether an actor may call a tool, and why.

    Reads garden.toml as it is now. Its caller also needs one of the tool's roles. A token's own policy counts
    only with --token.

    Example: garden policy explain --actor companion --tool fs.move
    """
    from garden.surfaces.cli.render import show_json, show_table
    from garden.tools.registry import REGISTRY
    from garden.tools.requests import find_tool

    own = None
    if token is not None:
        with open_garden(context) as garden:
            found = garden.tokens.find(token, None)
        own = found.policy
        if found.actor != actor:
            fail_usage(context, f"The token's actor is {found.actor}.")
    rules, meant = home_rules(context, actor, own), find_tool(REGISTRY, tool)
    listed, why = rules.listing(meant)
    permission, decided_by = rules.verdict(meant)
    limits = {each.name: each.most for each in rules.windows(meant)}
    roles = ", ".join(sorted(meant.traits.roles))
    shown = {"actor": actor, "tool": meant.name, "roles": roles, "phase": rules.phase, "listed": listed}
    shown |= {"why": why, "permission": permission, "decidedBy": decided_by, "limits": limits}
    if as_json:
        show_json(shown)
    else:
        shown["limits"] = ", ".join(f"{name}: {most}" for name, most in limits.items()) or "none"
        show_table(("", ""), ((name, str(value)) for name, value in shown.items()))


def home_rules(context: typer.Context, actor: str, token: "Mapping[str, Any] | None" = None) -> "Rules":
    """The rules for an actor by the home's settings, without opening a garden."""
    from garden.events.records import Caller
    from garden.gateway.access import Access
    from garden.gateway.policies import Policies
    from garden.tools.registry import REGISTRY

    settings = read_settings(context).settings
    access = Access(Caller("", actor), policy=token)
    return Policies(settings.gateway, settings.home, REGISTRY).rules(access)
