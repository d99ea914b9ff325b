"""The users and documents of a home, read from disk alone.

Shell completion asks for them on a key press, when opening a database would take too long.
"""

from collections.abc import Iterable
from pathlib import Path

from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath


def users_in(home: Path) -> list[str]:
    """Users who have a garden in this home."""
    with GardenFiles(home) as files:
        return [path.user_id for path in files.users()]


def documents_in(home: Path, users: Iterable[str]) -> list[str]:
    """Full paths of these users' documents."""
    with GardenFiles(home) as files:
        return [path.text for user in users for path in files.documents(GardenPath(f"users/{user}"))]
