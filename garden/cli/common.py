"""What the commands share: options, and the settings that they stand on."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from garden.application import Garden
    from garden.settings import Loaded

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
User = Annotated[str, typer.Option("--user", metavar="ID", help="Whose garden.")]


def load(context: typer.Context) -> "Loaded":
    """Read the settings, and set the logs up accordingly."""
    from garden.logs import configure_logs
    from garden.settings import load_settings

    loaded = load_settings(context.obj)
    configure_logs(loaded.settings.log_level, loaded.settings.log_format)
    return loaded


def opened(context: typer.Context) -> "Garden":
    """Open the garden that the command is for."""
    from garden.application import Garden
    from garden.cli.render import show_progress
    from garden.ground import prepare

    settings = load(context).settings
    return Garden(settings, prepare(settings, show_progress))
