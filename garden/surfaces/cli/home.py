"""The commands that prepare and check a home: `init`, `config`, `migrate`, `doctor`, `demo`."""

from typing import TYPE_CHECKING, Annotated

import typer

from garden.surfaces.cli.desk import invocation, read_settings
from garden.surfaces.cli.options import AsJson

if TYPE_CHECKING:
    from garden.events.migrations import MigrationStatus
    from garden.home.settings import Settings


def init(context: typer.Context, as_json: AsJson = False) -> None:
    """Create the garden home and its database.

    Adds what is missing, and changes nothing else.

    Example: garden --home ./my-garden init
    """
    from garden.home.keys import KeySource
    from garden.home.setup import prepare_home
    from garden.surfaces.cli.render import show, show_progress

    settings = read_settings(context).settings
    ground = prepare_home(settings, show_progress)
    # Keys are made once, with the home: fresh keys could not verify what lost ones sealed.
    KeySource(settings, ground.home)()
    home = ground.home
    show({"home": home.path, "id": home.id, "layout": home.layout}, f"Ready: {home.path}", as_json=as_json)


def config(context: typer.Context, as_json: AsJson = False) -> None:
    """Show every setting and where it came from.

    A setting comes from the environment, else from garden.toml in the home, else from its default. The last
    column names the environment variable. In garden.toml use the name in the first column; a name with a dot
    belongs to a table such as [limits]. Secrets are hidden.

    Examples:
    garden config

    garden config --json
    """
    from garden.home.settings_view import setting_rows, unknown_variables
    from garden.surfaces.cli.render import show_json, show_table, show_warnings

    rows = setting_rows(read_settings(context))
    if as_json:
        show_json(rows)
        return
    shown = ((row.name, "-" if row.value is None else row.value, row.origin, row.variable) for row in rows)
    show_table(("setting", "value", "from", "variable"), shown)
    show_warnings(unknown_variables())


def migrate(
    context: typer.Context,
    status: Annotated[
        bool, typer.Option("--status", help="Show which migrations are applied; apply none.")
    ] = False,
    print_roles: Annotated[
        bool,
        typer.Option("--print-roles", help="Print the SQL that prepares the database roles; apply nothing."),
    ] = False,
    distribute: Annotated[
        bool, typer.Option("--distribute", help="Then distribute the tables by user, on a Citus cluster.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Migrate the database to this version's schema.

    Every command migrates on first use; run this to choose the moment. It is safe at any moment, in any
    number of processes at once. If the database login may not create roles, an administrator runs the output
    of --print-roles once.

    Examples:
    garden migrate

    garden migrate --status

    garden migrate --distribute
    """
    from garden.surfaces.cli.render import show, show_progress

    settings = read_settings(context).settings
    if print_roles:
        from garden.events.roles import preparation

        sql = preparation(_login(settings))
        show({"sql": sql}, sql, as_json=as_json)
        return
    from garden.home.setup import ensure_database, prepare_home

    if not status:
        ground = prepare_home(settings, show_progress, may_create=False)
        if distribute:
            _distribute(ensure_database(settings, ground.home), as_json=as_json)
            return
        if not as_json:
            print(f"{len(ground.applied)} applied; the database is up to date.")
            return
    from garden.events.database import connection
    from garden.events.migrations import status as read_status
    from garden.home.folder import open_home

    with connection(ensure_database(settings, open_home(settings.home), show_progress)) as opened:
        _show_migrations(read_status(opened), as_json=as_json)


def _distribute(database_url: str, *, as_json: bool) -> None:
    from garden.events.database import connection
    from garden.events.distribution import distribute
    from garden.surfaces.cli.render import show

    with connection(database_url) as opened:
        tables = distribute(opened)
    line = f"Distributed: {', '.join(tables)}." if tables else "All tables are distributed already."
    show({"distributed": tables}, line, as_json=as_json)


def doctor(context: typer.Context, as_json: AsJson = False) -> None:
    """Check everything the garden needs.

    Prints one line for each check, with a remedy for each failure. Exit code 1 if a check failed.

    Examples:
    garden doctor

    garden doctor --json
    """
    from garden.surfaces.cli.render import show_json
    from garden.surfaces.cli.views import show_check
    from garden.upkeep.doctor import examine

    results = []
    for result in examine(invocation(context).home):
        results.append(result)
        if not as_json:
            show_check(result)
    if as_json:
        show_json(results)
    if any(result.status == "failed" for result in results):
        raise typer.Exit(1)


def demo(as_json: AsJson = False) -> None:
    """See the garden at work, on a throw-away home.

    Imports the gardens of two fictional people, tends one as a companion agent would, edits a file outside
    the tools, tries what is forbidden, and verifies that every file is what its events say. Exit code 1 if a
    step went wrong.

    Example: garden demo
    """
    from garden.demo.record import DemoRecord
    from garden.demo.story import run_demo
    from garden.surfaces.cli.render import show_json
    from garden.surfaces.cli.views import DemoTerminal

    record = DemoRecord()
    held = run_demo(record if as_json else DemoTerminal())
    if as_json:
        show_json({"held": held, "scenes": record.scenes})
    if not held:
        raise typer.Exit(1)


def _login(settings: "Settings") -> str:
    from urllib.parse import unquote, urlsplit

    url = settings.database_url.get_secret_value() if settings.database_url else ""
    return unquote(urlsplit(url).username or "") or "postgres"


def _show_migrations(migrations: "list[MigrationStatus]", *, as_json: bool) -> None:
    from garden.surfaces.cli.render import show_json, show_table

    if as_json:
        show_json(migrations)
        return
    rows = ((f"{each.version:04d}", each.name, each.applied_at or "pending") for each in migrations)
    show_table(("number", "name", "applied"), rows)
