"""The command `garden` and its subcommands."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import garden
from garden.cli import tending
from garden.cli.common import AsJson, load
from grammar.errors import GardenError

if TYPE_CHECKING:
    from events.migrations import MigrationStatus
    from garden.settings import Settings

app = typer.Typer(
    name="garden",
    help="Memory Garden: a file-first memory service for companion agents.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
database = typer.Typer(no_args_is_help=True, help="Start, stop or find the embedded Postgres.")
app.add_typer(database, name="database")
keys = typer.Typer(no_args_is_help=True, help="List, rotate and verify with the integrity keys.")
app.add_typer(keys, name="keys")


def main() -> None:
    """Run the command; 0 is success, 1 a problem that the message explains, 2 a misuse of the command."""
    with ExitStack() as stack:
        # A closed stream is None here, and printing to it an error that nobody could read.
        sys.stdout = sys.stdout or stack.enter_context(Path(os.devnull).open("w"))
        sys.stderr = sys.stderr or stack.enter_context(Path(os.devnull).open("w"))
        try:
            app()
        except GardenError as error:
            _fail(error.message, error.hint)
        except OSError as error:
            _fail(str(error), "")


def _fail(message: str, hint: str) -> None:
    from garden.cli.render import show_error

    show_error(message, hint)
    sys.exit(1)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"memory-garden {garden.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    home: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="The garden home; else GARDEN_HOME, else ~/memory-garden."),
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    # An empty word counts as none, as an empty variable does: nobody who wrote "$UNSET" meant this folder.
    context.obj = Path(home) if home else None


@app.command()
def init(context: typer.Context, as_json: AsJson = False) -> None:
    """Create the garden home and its database.

    Completes what is missing, and is harmless where nothing is.

    Example: garden --home ./my-garden init
    """
    from garden.cli.render import show_json, show_progress
    from garden.ground import prepare

    ground = prepare(load(context).settings, show_progress)
    if as_json:
        show_json({"home": ground.home.path, "id": ground.home.id, "layout": ground.home.layout})
    else:
        print(f"Ready: {ground.home.path}")


@app.command()
def config(context: typer.Context, as_json: AsJson = False) -> None:
    """Show every setting and where it came from.

    A setting comes from the environment, else from garden.toml in the home, else from its default. The last
    column names the environment variable; in garden.toml the name in the first column is used, with the
    limits in a table [limits]. Secrets stay hidden.
    """
    from dataclasses import asdict

    from garden.cli.render import show_json, show_table
    from garden.settings_view import setting_rows, unknown_variables

    rows = setting_rows(load(context))
    if as_json:
        show_json([asdict(row) for row in rows])
        return
    shown = ((row.name, "-" if row.value is None else row.value, row.origin, row.variable) for row in rows)
    show_table(("setting", "value", "from", "variable"), shown)
    for complaint in unknown_variables():
        print(f"warning: {complaint}", file=sys.stderr)


@app.command()
def migrate(
    context: typer.Context,
    status: Annotated[bool, typer.Option("--status", help="Only show where each migration stands.")] = False,
    print_roles: Annotated[
        bool, typer.Option("--print-roles", help="Only print the SQL that prepares the database roles.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the database to this version's schema.

    Every command does so by itself on first use; call it where you want to choose the moment. Safe to call at
    any time and by any number of processes at once. Where the database login may not create roles, an
    administrator runs what --print-roles prints, once.
    """
    from garden.cli.render import show_progress

    settings = load(context).settings
    if print_roles:
        from events.roles import preparation

        print(preparation(_login(settings)))
        return
    if not status:
        from garden.ground import prepare

        ground = prepare(settings, show_progress)
        if not as_json:
            print(f"{len(ground.applied)} applied; the database is up to date.")
            return
    from events.database import connection
    from events.migrations import status as read_status
    from garden.ground import database_url
    from garden.home import open_home

    with connection(database_url(settings, open_home(settings.home), show_progress)) as opened:
        _show_migrations(read_status(opened), as_json=as_json)


@app.command()
def doctor(context: typer.Context, as_json: AsJson = False) -> None:
    """Examine everything the garden needs.

    One line a check, with what to do where one fails; exit code 1 if any failed.
    """
    from dataclasses import asdict

    from garden.cli.render import show_finding, show_json
    from garden.doctor import examine

    findings = []
    for finding in examine(load(context)):
        findings.append(finding)
        if not as_json:
            show_finding(finding)
    if as_json:
        show_json([asdict(finding) for finding in findings])
    if any(finding.status == "failed" for finding in findings):
        raise typer.Exit(1)


@app.command()
def demo() -> None:
    """See the garden at work, on a throw-away home.

    Imports two fictional people's gardens, tends them as a companion agent would, edits a file behind the
    tools' back, tries what is not allowed, and proves at the end that every file is what its events say. Exit
    code 1 if anything is not as told.
    """
    from garden.cli.render import Terminal
    from garden.demo.story import tell

    if not tell(Terminal()):
        raise typer.Exit(1)


app.command()(tending.call)
app.command()(tending.plant)
app.command("import")(tending.import_folder)


@database.command()
def start(context: typer.Context) -> None:
    """Start the embedded Postgres; commands that need it do so by themselves."""
    from garden.cli.render import show_progress
    from garden.ground import prepare

    prepare(load(context).settings, show_progress)


@database.command()
def stop(context: typer.Context) -> None:
    """Stop the embedded Postgres; it keeps running otherwise, so that later commands are quick."""
    from garden.embedded import EmbeddedPostgres
    from garden.home import open_home

    stopped = EmbeddedPostgres(open_home(load(context).settings.home)).stop()
    print("Stopped." if stopped else "It was not running.")


@database.command()
def url(context: typer.Context) -> None:
    """Print the database's address for psql and other programs, starting the embedded one if need be.

    Example: psql "$(garden database url)"
    """
    from garden.cli.render import show_progress
    from garden.ground import database_url
    from garden.home import open_home

    settings = load(context).settings
    print(database_url(settings, open_home(settings.home), show_progress))


@keys.command("list")
def list_keys(context: typer.Context, as_json: AsJson = False) -> None:
    """List the keys by version, never their bytes."""
    from garden.cli.render import show_json, show_table
    from garden.home import open_home
    from garden.keys import KeySource

    settings = load(context).settings
    *older, newest = KeySource(settings, open_home(settings.home))().versions
    rows = [(version, "verifies") for version in older] + [(newest, "signs")]
    if as_json:
        show_json([{"version": version, "use": use} for version, use in rows])
    else:
        show_table(("version", "use"), rows)


@keys.command("rotate")
def rotate(context: typer.Context) -> None:
    """Add a fresh key that signs from now on.

    The older keys stay, to verify what they have signed. Running processes take the new key by themselves.
    """
    from garden.home import open_home
    from garden.keys import rotate_keys

    settings = load(context).settings
    print(f"Version {rotate_keys(settings, open_home(settings.home)).versions[-1]} signs from now on.")


@keys.command("verify")
def verify(
    context: typer.Context,
    user: Annotated[str | None, typer.Option(help="Only this user's account.", metavar="ID")] = None,
    as_json: AsJson = False,
) -> None:
    """Check that every event is what was written.

    Follows each document's chain of events from the first to its head, rebuilding the text on the way, and
    names the first event of each chain that does not hold. Exit code 1 if there is any.
    """
    from dataclasses import asdict

    from garden.cli.render import show_json, show_verdict
    from garden.verification import verify_accounts

    faults = False
    shown = []
    for user_id, verdict in verify_accounts(load(context).settings, user):
        faults = faults or not verdict.holds
        shown.append({"user": user_id, **asdict(verdict)})
        if not as_json:
            show_verdict(user_id, verdict)
    if as_json:
        show_json(shown)
    elif not shown:
        print("There are no events yet.")
    if faults:
        raise typer.Exit(1)


def _login(settings: "Settings") -> str:
    from urllib.parse import unquote, urlsplit

    url = settings.database_url.get_secret_value() if settings.database_url else ""
    return unquote(urlsplit(url).username or "") or "postgres"


def _show_migrations(stands: "list[MigrationStatus]", *, as_json: bool) -> None:
    from dataclasses import asdict

    from garden.cli.render import show_json, show_table

    if as_json:
        show_json([asdict(each) for each in stands])
        return
    shown = ((f"{each.version:04d}", each.name, each.applied_at or "pending") for each in stands)
    show_table(("number", "name", "applied"), shown)
