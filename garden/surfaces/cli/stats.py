"""`garden stats`: how often recall was used."""

import typer

from garden.surfaces.cli.desk import open_garden, select_users
from garden.surfaces.cli.options import AsJson, OneUser


def stats(context: typer.Context, user: OneUser = None, as_json: AsJson = False) -> None:
    """Show how often recall was used, by user and day.

    Empty: calls that found nothing. Given: blocks of context. Days are those of UTC. What was asked is kept
    nowhere.

    Examples:
    garden stats

    garden stats --user ada --json
    """
    from garden.surfaces.cli.render import say, show_json, show_table

    with open_garden(context) as garden:
        used = [row for name in select_users(garden, user) for row in garden.services.usage.by_day(name)]
    if as_json:
        show_json(used)
    elif used:
        cells = [
            [f"{cell:.1f}" if isinstance(cell, float) else cell for cell in row.values()] for row in used
        ]
        show_table(("user", "day", "tool", "calls", "empty", "mean ms", "given"), cells)
    else:
        say("Recall has not been used yet.")
