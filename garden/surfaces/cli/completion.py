"""What the shell is offered while a command is being typed; whatever goes wrong, it is offered nothing."""

import os
from pathlib import Path

import typer

from garden.grammar.errors import GardenError


def tools(incomplete: str) -> list[tuple[str, str]]:
    """Offer the names of tools, and what they do."""
    from garden.tools.registry import REGISTRY

    return [(tool.name, tool.summary) for tool in REGISTRY.values() if tool.name.startswith(incomplete)]


def users(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the users of the home."""
    from garden.surfaces.cli.addresses import gardens_of

    try:
        return [user for user in gardens_of(_home(context)) if user.startswith(incomplete)]
    except (GardenError, OSError):
        return []


def paths(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the documents of the user's garden, named from inside it, or in full where that was begun."""
    from garden.access.directory import documents_in
    from garden.surfaces.cli.addresses import gardens_of

    try:
        home = _home(context)
        user = context.params.get("user") or os.environ.get("GARDEN_USER")
        whose = [user] if user else gardens_of(home)
        full = documents_in(home, whose)
    except (GardenError, OSError):
        return []
    short = [path.removeprefix(f"users/{whose[0]}/") for path in full] if len(whose) == 1 else []
    return [path for path in (*short, *full) if path.startswith(incomplete)]


def _home(context: typer.Context) -> Path:
    # As the settings have it, and without reading them: that takes longer than anybody waits for a key.
    told = context.find_root().params.get("home") or os.environ.get("GARDEN_HOME") or "~/memory-garden"
    return Path(told).expanduser().absolute()
