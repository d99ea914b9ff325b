"""The commands `garden database ...`: the embedded Postgres of a home."""

from typing import Annotated

import typer

from garden.surfaces.cli.desk import read_settings
from garden.surfaces.cli.options import AsJson

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Start, stop or find the embedded Postgres."
)


@app.command()
def start(context: typer.Context, as_json: AsJson = False) -> None:
    """Start the embedded Postgres.

    Not required: a command that needs it starts it.

    Example: garden database start
    """
    from garden.home.setup import prepare_home
    from garden.surfaces.cli.render import show_json, show_progress

    settings = read_settings(context).settings
    prepare_home(settings, show_progress, may_create=False)
    if as_json:
        show_json({"ready": True, "embedded": settings.database_url is None})


@app.command()
def stop(
    context: typer.Context,
    take_back: Annotated[
        bool,
        typer.Option(
            "--take-back", help="As root: let its account pass no longer through folders outside the home."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Stop the embedded Postgres.

    Otherwise it keeps running, so that later commands start fast. Postgres does not run as root: for root it
    runs under the account memory-garden, which may pass the folders above the home. The next start lets it
    pass again, and says so.

    Examples:
    garden database stop

    garden database stop --take-back
    """
    from garden.home.embedded import EmbeddedPostgres
    from garden.home.folder import open_home
    from garden.surfaces.cli.render import show, show_progress

    embedded = EmbeddedPostgres(open_home(read_settings(context).settings.home), show_progress)
    stopped = embedded.stop()
    folders = embedded.take_back() if take_back else []
    shown = {"stopped": stopped} | ({"takenBack": folders} if take_back else {})
    show(shown, "Stopped." if stopped else "It was not running.", as_json=as_json)
    for folder in folders:
        show_progress(f"Its account may pass through {folder} no more.")


@app.command()
def url(
    context: typer.Context,
    service: Annotated[
        bool, typer.Option("--service", help="The service's login, which can do only what the service does.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print the database's address, for psql and other clients.

    The login is the database's owner, unless --service is given. Starts the embedded Postgres if it is not
    running.

    Examples:
    psql "$(garden database url)"

    garden database url --service
    """
    from garden.home.folder import open_home
    from garden.home.setup import ensure_database, prepare_home
    from garden.surfaces.cli.render import show, show_progress

    settings = read_settings(context).settings
    if service:
        address = prepare_home(settings, show_progress, may_create=False).database_url
    else:
        address = ensure_database(settings, open_home(settings.home), show_progress)
    show({"url": address}, address, as_json=as_json)
