"""Options and arguments that several commands share, and their completion in the shell."""

import os
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from garden.grammar.errors import GardenError
from garden.home.local_day import now_in
from garden.home.times import parse_time
from garden.surfaces.cli.desk import USER_VARIABLE, fail_usage, invocation, read_settings, users_in_home


def read_time(context: typer.Context, option: str, text: str) -> datetime:
    """Parse a time that an option gives; one without an offset is in the setting's time zone, else in UTC."""
    try:
        return parse_time(text, now_in(read_settings(context).settings.timezone))
    except ValueError as error:
        fail_usage(context, f"{option} {text!r}: {error}.")


def complete_tools(incomplete: str) -> list[tuple[str, str]]:
    """Complete a tool's name; the shell shows its summary."""
    from garden.tools.registry import REGISTRY

    return [(tool.name, tool.summary) for tool in REGISTRY.values() if tool.name.startswith(incomplete)]


def complete_users(context: typer.Context, incomplete: str) -> list[str]:
    """Complete a user of the home; offers nothing if the home can't be read."""
    try:
        return [user for user in users_in_home(_home(context)) if user.startswith(incomplete)]
    except (GardenError, OSError):
        return []


def complete_paths(context: typer.Context, incomplete: str) -> list[str]:
    """Complete a document's short or full path; offers nothing if the home can't be read."""
    from garden.gateway.directory import documents_in

    try:
        home = _home(context)
        user = context.params.get("user") or os.environ.get(USER_VARIABLE)
        users = [user] if user else users_in_home(home)
        full = documents_in(home, users)
    except (GardenError, OSError):
        return []
    short = [path.removeprefix(f"users/{users[0]}/") for path in full] if len(users) == 1 else []
    return [path for path in (*short, *full) if path.startswith(incomplete)]


def _home(context: typer.Context) -> Path:
    # The same home as the settings give; reading them would take too long for a key press.
    named = context.find_root().params.get("home") or os.environ.get("GARDEN_HOME") or "~/memory-garden"
    return Path(named).expanduser().absolute()


def _note_json(context: typer.Context, wanted: bool) -> bool:
    invocation(context).as_json = wanted
    return wanted


AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of text.", callback=_note_json, is_eager=True)
]
User = Annotated[
    str | None,
    typer.Option(
        "--user",
        metavar="ID",
        envvar=USER_VARIABLE,
        help="The user whose garden is meant. Default: the only user of the home.",
        autocompletion=complete_users,
    ),
]
NamedUser = Annotated[str, typer.Option("--user", metavar="ID", help="The user whose garden is meant.")]
OneUser = Annotated[str | None, typer.Option("--user", metavar="ID", help="Only this user's garden.")]
Actor = Annotated[str, typer.Option(metavar="NAME", help="Name recorded as the actor of every event.")]
DocumentPath = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="A document: notes.md, parts/critic/profile.md, or the full users/ada/notes.md.",
        autocompletion=complete_paths,
        show_default=False,
    ),
]
Rationale = Annotated[
    str | None,
    typer.Option("--rationale", "-m", metavar="WORDS", help="Reason in one sentence; kept with the event."),
]
OverrideRationale = Annotated[
    str | None, typer.Option(metavar="WORDS", help="Reason, in one line, to exceed a soft cap this time.")
]
Evidence = Annotated[
    list[str] | None, typer.Option(metavar="TOKEN", help="Evidence token such as ev:s12-m40; repeatable.")
]
IfMatch = Annotated[
    str | None,
    typer.Option(
        metavar="HASH", help="Refuse the edit unless the document (for patch: the section) has this hash."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the change without making it.")]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="KEY",
        help="Carry the edit out once, however often it is sent with this key. Without a key, each run is an "
        "edit of its own.",
    ),
]
Version = Annotated[int | None, typer.Option(min=1, metavar="N", help="The version with this number.")]
AtTime = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="The version of this time: 2026-11-18, 2026-11-18T08:25, yesterday, 3d."
    ),
]
Limit = Annotated[int, typer.Option(metavar="N", help="Most memories to show, up to 50.")]
Categories = Annotated[
    list[str] | None,
    typer.Option("--category", metavar="NAME", help="Only of this category, as life-goal; repeatable."),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Only from notes, overview, part_profile; repeatable."),
]
_InPath = typer.Option(
    "--path", metavar="PATH", help="Only below this path; repeatable.", autocompletion=complete_paths
)
Paths = Annotated[list[str] | None, _InPath]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="Only with this tag; repeatable.")
]
FromDay = Annotated[
    str | None, typer.Option("--from", "--since", metavar="DAY", help="Only from this day on: yesterday, 3d.")
]
ToDay = Annotated[
    str | None, typer.Option("--to", "--until", metavar="DAY", help="Only up to this day, with it.")
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since", "--from", metavar="TIME", help="From this time on: 2026-11-18T08:25, yesterday, 3d."
    ),
]
Until = Annotated[str | None, typer.Option("--until", "--to", metavar="TIME", help="Before this time.")]
AsOf = Annotated[str | None, typer.Option(metavar="TIME", help="As the garden stood at this time: 3d.")]
Cursor = Annotated[str | None, typer.Option(metavar="CURSOR", help="Go on where the last page ended.")]
