"""Memory Garden: a file-first memory service for companion agents.

with garden.open(home="my-garden") as opened:
    session = opened.session("ada", "companion")
    session.md.plant("users/ada/notes.md", title="Notes")
    session.fs.append("users/ada/notes.md", "Laughed about the deadline today.")
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from garden.application import Garden

__version__ = "0.1.0"


def open(home: "str | Path | None" = None) -> "Garden":  # noqa: A001 - read as garden.open
    """Open the garden in this folder or in the settings' folder, creating what is missing."""
    from garden.application import open_garden

    return open_garden(home)
