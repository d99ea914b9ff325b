"""The garden home: the one folder of the gardens, their history and the service's own state.

    users/      the gardens
    history/    earlier versions of documents
    .garden/    identity, keys, embedded database
    kinds/      an operator's declarations of kinds, if any

Creating a home is idempotent, and safe to interrupt or to race: each step happens completely or not at all.
"""

import json
import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from garden.events.keyring import Keyring
from garden.grammar.errors import GardenError
from garden.home.state_files import (
    exclusive_lock,
    make_private_folder,
    remove_strays,
    write_private_file,
)

LAYOUT = 1
_PATH_BYTES_MAX = 900
_OWN_NAMES = {"users", "history", "kinds", ".garden", "garden.toml"}


class HomeError(GardenError):
    """The garden home can't be used as it is."""

    code = "unavailable"


class HomeMissingError(HomeError):
    """The folder holds no garden home yet."""

    code = "not_found"


@dataclass(frozen=True)
class Home:
    """An existing garden home, with its id."""

    path: Path
    id: uuid.UUID
    layout: int

    @property
    def users(self) -> Path:
        """The folder of the gardens."""
        return self.path / "users"

    @property
    def history(self) -> Path:
        """The folder of earlier versions."""
        return self.path / "history"

    @property
    def state(self) -> Path:
        """The folder of the service's own state."""
        return self.path / ".garden"

    @property
    def keys_file(self) -> Path:
        """The file of the integrity keys, unless the environment holds them."""
        return self.state / "keys"


def open_home(path: Path) -> Home:
    """Open the home in this folder; it must exist and have a layout that this version knows."""
    try:
        raw = _identity_file(path).read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise HomeMissingError(
            f"There is no garden home in {path}.",
            hint="Create it with 'garden init', or name the right folder with GARDEN_HOME or --home.",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise HomeError(
            f"The garden home in {path} can't be read: {_reason(error)}.",
            hint="Run as the user who owns the folder, or repair its permissions.",
        ) from None
    return _read_identity(path, raw)


def ensure_home(path: Path) -> Home:
    """Open the home in this folder, and create it first if there is none."""
    try:
        return open_home(path)
    except HomeMissingError:
        return _create(path)


def _create(path: Path) -> Home:
    _refuse_impossible_path(path)
    home = Home(path, uuid.uuid4(), LAYOUT)
    try:
        _refuse_foreign_folder(path)
        make_private_folder(path)
        make_private_folder(home.state)
        with exclusive_lock(home.state / "home.lock", timeout_seconds=30):
            if not _identity_file(path).exists():
                _fill(home)
    except OSError as error:
        raise HomeError(
            f"A garden home can't be created in {path}: {_reason(error)}.",
            hint="Choose a folder you may write to with GARDEN_HOME or --home.",
        ) from None
    return open_home(path)


def _fill(home: Home) -> None:
    """Make everything in a home; the identity comes last, so that a home with an identity is complete."""
    remove_strays(home.state)
    make_private_folder(home.users)
    make_private_folder(home.history)
    if not home.keys_file.exists():
        write_private_file(home.keys_file, Keyring.generate().render().encode())
    identity = {"id": str(home.id), "layout": home.layout}
    write_private_file(_identity_file(home.path), (json.dumps(identity) + "\n").encode())


def _refuse_impossible_path(path: Path) -> None:
    """Refuse a path in which Postgres could not work, before making anything."""
    if not str(path).isprintable() or len(os.fsencode(path)) > _PATH_BYTES_MAX:
        raise HomeError(
            "The path of a garden home may not hold control or broken characters, and has at most "
            f"{_PATH_BYTES_MAX} bytes.",
            hint="Choose another folder with GARDEN_HOME or --home.",
        )


def _refuse_foreign_folder(path: Path) -> None:
    try:
        foreign = sorted(entry.name for entry in path.iterdir() if entry.name not in _OWN_NAMES)
    except FileNotFoundError:
        return
    if foreign:
        raise HomeError(
            f"{path} is not a garden home and already holds other files ({', '.join(foreign[:3])}).",
            hint="Choose an empty or a new folder with GARDEN_HOME or --home.",
        )


def _read_identity(path: Path, raw: str) -> Home:
    try:
        identity: dict[str, Any] = json.loads(raw)
        home = Home(path, uuid.UUID(identity["id"]), int(identity["layout"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise HomeError(
            f"The identity of the garden home in {path} is damaged: .garden/home.json can't be parsed.",
            hint="Put .garden/home.json back from a backup.",
        ) from None
    if home.layout != LAYOUT:
        raise HomeError(
            f"The garden home in {path} has layout {home.layout}; this version knows layout {LAYOUT}.",
            hint="Use the version of memory-garden that made it, or a newer one.",
        )
    return home


def _identity_file(path: Path) -> Path:
    return path / ".garden" / "home.json"


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
