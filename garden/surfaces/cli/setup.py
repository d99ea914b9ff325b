"""The command `setup`: it writes this program into the settings of an MCP client, and takes it back."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from garden.surfaces.cli.desk import USER_VARIABLE, fail_usage, read_settings, users_in_home
from garden.surfaces.cli.options import AsJson, complete_users
from garden.surfaces.cli.serve import ProfileName

if TYPE_CHECKING:
    from garden.clients.forms import Entry

ClientName = Literal["claude-desktop", "claude-code", "cursor", "vscode", "codex"]


def setup(
    context: typer.Context,
    client: Annotated[
        ClientName, typer.Argument(help="claude-desktop, claude-code, cursor, vscode or codex.")
    ],
    user: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            envvar=USER_VARIABLE,
            help="The user whose garden is meant. Default: the only user of the home, or me.",
            autocompletion=complete_users,
        ),
    ] = None,
    profile: Annotated[
        ProfileName | None, typer.Option(help="List the tools of daily work, or all. Default: lean.")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take the entry out again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the change without making it.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Set up an MCP client on this machine to use the garden.

    Shows what changes in the client's settings file, and asks. All else in the file stays as it is, and the
    file as it was is kept beside it; --undo takes the change back. The client starts the garden by itself.

    Examples:
    garden setup claude-code --dry-run

    garden setup cursor --user ada --yes

    garden setup cursor --undo --yes
    """
    from garden.clients.known import CLIENTS
    from garden.clients.setup import make_change, plan_setup, plan_undo
    from garden.surfaces.cli.render import show_diff, show_json

    entry = None if undo else _make_entry(context, client, user, profile)
    change = plan_undo(CLIENTS[client]) if entry is None else plan_setup(CLIENTS[client], entry)
    is_new = change.before != change.after
    if is_new and not (dry_run or yes) and (as_json or sys.stdin is None or not sys.stdin.isatty()):
        fail_usage(context, "Add --yes, since no terminal is there to ask.")
    if not as_json:
        show_diff(change.diff())
    if is_new and not dry_run:
        if not yes and not typer.confirm("Write this?"):
            raise typer.Exit(1)
        make_change(change)
    if as_json:
        written = is_new and not dry_run
        show_json({"file": change.path, "written": written, "entry": entry, "diff": change.diff()})
    elif not is_new:
        print(f"Nothing to change in {change.path}.")
    elif not dry_run:
        print(f"{'Removed' if change.after is None else 'Written'}: {change.path}")
        if entry is not None:
            print(f"{CLIENTS[client].afterwards}\nTo take it back, run this again with --undo.")


def _make_entry(context: typer.Context, client: str, user: str | None, profile: str | None) -> "Entry":
    from garden.clients.program import find_program
    from garden.clients.setup import make_entry
    from garden.writing.callers import check_user_id

    folder = read_settings(context).settings.home
    if user is None:
        users = users_in_home(folder) if (folder / ".garden").is_dir() else []
        user = users[0] if len(users) == 1 else "me"
    check_user_id(user)
    return make_entry(client, find_program(), user, Path(os.path.normpath(folder)), profile)
