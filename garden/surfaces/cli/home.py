"""The commands that make a home ready and examine it: `init`, `config`, `migrate`, `doctor`, `demo`."""

from typing import TYPE_CHECKING, Annotated

import typer

from garden.surfaces.cli.common import AsJson, invocation, load

if TYPE_CHECKING:
    from garden.events.migrations import MigrationStatus
    from garden.home.settings import Settings


def init(context: typer.Context, as_json: AsJson = False) -> None:
    """Create the garden home and its database.

    Completes what is missing, and is harmless where nothing is.

    Example: garden --home ./my-garden init
    """
    from garden.home.keys import KeySource
    from garden.home.setup import prepare_home
    from garden.surfaces.cli.render import show_json, show_progress

    settings = load(context).settings
    ground = prepare_home(settings, show_progress)
    # Keys are made with the home and never again: fresh ones could not verify what the lost ones sealed.
    KeySource(settings, ground.home)()
    if as_json:
        show_json({"home": ground.home.path, "id": ground.home.id, "layout": ground.home.layout})
    else:
        print(f"Ready: {ground.home.path}")


def config(context: typer.Context, as_json: AsJson = False) -> None:
    """Show every setting and where it came from.

    A setting comes from the environment, else from garden.toml in the home, else from its default. The last
    column names the environment variable; in garden.toml the name in the first column is used, with those
    that have a dot in their names in tables such as [limits]. Secrets stay hidden.

    Examples:
    garden config

    garden config --json
    """
    from dataclasses import asdict

    from garden.home.settings_view import setting_rows, unknown_variables
    from garden.surfaces.cli.render import show_json, show_table, show_warnings

    rows = setting_rows(load(context))
    if as_json:
        show_json([asdict(row) for row in rows])
        return
    shown = ((row.name, "-" if row.value is None else row.value, row.origin, row.variable) for row in rows)
    show_table(("setting", "value", "from", "variable"), shown)
    show_warnings(unknown_variables())


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

    Examples:
    garden migrate

    garden migrate --status
    """
    from garden.surfaces.cli.render import show_json, show_progress

    settings = load(context).settings
    if print_roles:
        from garden.events.roles import preparation

        sql = preparation(_login(settings))
        show_json({"sql": sql}) if as_json else print(sql)
        return
    if not status:
        from garden.home.setup import prepare_home

        ground = prepare_home(settings, show_progress)
        if not as_json:
            print(f"{len(ground.applied)} applied; the database is up to date.")
            return
    from garden.events.database import connection
    from garden.events.migrations import status as read_status
    from garden.home.folder import open_home
    from garden.home.setup import ensure_database

    with connection(ensure_database(settings, open_home(settings.home), show_progress)) as opened:
        _show_migrations(read_status(opened), as_json=as_json)


def doctor(context: typer.Context, as_json: AsJson = False) -> None:
    """Examine everything the garden needs.

    One line a check, with what to do where one fails; exit code 1 if any failed.

    Examples:
    garden doctor

    garden doctor --json
    """
    from dataclasses import asdict

    from garden.surfaces.cli.render import show_json
    from garden.surfaces.cli.reports import show_finding
    from garden.upkeep.doctor import examine

    findings = []
    for finding in examine(invocation(context).home):
        findings.append(finding)
        if not as_json:
            show_finding(finding)
    if as_json:
        show_json([asdict(finding) for finding in findings])
    if any(finding.status == "failed" for finding in findings):
        raise typer.Exit(1)


def demo(as_json: AsJson = False) -> None:
    """See the garden at work, on a throw-away home.

    Imports two fictional people's gardens, tends them as a companion agent would, edits a file behind the
    tools' back, tries what is not allowed, and proves at the end that every file is what its events say. Exit
    code 1 if anything is not as told.

    Example: garden demo
    """
    from garden.demo.story import tell
    from garden.surfaces.cli.demo_output import Record, Terminal
    from garden.surfaces.cli.render import show_json

    record = Record()
    held = tell(record if as_json else Terminal())
    if as_json:
        show_json({"held": held, "scenes": record.scenes})
    if not held:
        raise typer.Exit(1)


def _login(settings: "Settings") -> str:
    from urllib.parse import unquote, urlsplit

    url = settings.database_url.get_secret_value() if settings.database_url else ""
    return unquote(urlsplit(url).username or "") or "postgres"


def _show_migrations(stands: "list[MigrationStatus]", *, as_json: bool) -> None:
    from dataclasses import asdict

    from garden.surfaces.cli.render import show_json, show_table

    if as_json:
        show_json([asdict(each) for each in stands])
        return
    shown = ((f"{each.version:04d}", each.name, each.applied_at or "pending") for each in stands)
    show_table(("number", "name", "applied"), shown)
