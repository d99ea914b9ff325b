"""The commands `garden database ...`: the embedded Postgres of a home."""

import typer

from garden.surfaces.cli.common import AsJson, load

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Start, stop or find the embedded Postgres."
)


@app.command()
def start(context: typer.Context, as_json: AsJson = False) -> None:
    """Start the embedded Postgres.

    Commands that need it do so by themselves.

    Example: garden database start
    """
    from garden.home.setup import prepare_home
    from garden.surfaces.cli.render import show_json, show_progress

    settings = load(context).settings
    prepare_home(settings, show_progress)
    if as_json:
        show_json({"ready": True, "embedded": settings.database_url is None})


@app.command()
def stop(context: typer.Context, as_json: AsJson = False) -> None:
    """Stop the embedded Postgres.

    It keeps running otherwise, so that later commands are quick.

    Example: garden database stop
    """
    from garden.home.embedded import EmbeddedPostgres
    from garden.home.folder import open_home
    from garden.surfaces.cli.render import show_json

    stopped = EmbeddedPostgres(open_home(load(context).settings.home)).stop()
    if as_json:
        show_json({"stopped": stopped})
    else:
        print("Stopped." if stopped else "It was not running.")


@app.command()
def url(context: typer.Context, as_json: AsJson = False) -> None:
    """Print the database's address, for psql and others.

    The embedded one is started if need be.

    Example: psql "$(garden database url)"
    """
    from garden.home.folder import open_home
    from garden.home.setup import ensure_database
    from garden.surfaces.cli.render import show_json, show_progress

    settings = load(context).settings
    address = ensure_database(settings, open_home(settings.home), show_progress)
    if as_json:
        show_json({"url": address})
    else:
        print(address)
