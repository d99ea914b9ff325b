"""By what names people call gardens and documents."""

import re
from pathlib import Path

OF_A_USER = re.compile("(?:users|history)/([^/]+)(?:/.*)?", re.DOTALL)


def gardens_of(home: Path) -> list[str]:
    """Name the users whose gardens are in a home; none where there is no home yet."""
    from garden.access.directory import users_in
    from garden.home.folder import HomeMissingError, open_home

    try:
        found = open_home(home)
    except HomeMissingError:
        return []
    return users_in(found.path)


def full_path(user: str, words: str) -> str:
    """Give the full path for one that may be named from inside a garden."""
    path = words.removeprefix("./")
    if len(path) > 1 and path.endswith("/"):
        path = path[:-1]
    if OF_A_USER.fullmatch(path) or path.startswith(("/", "../")):
        return path
    if path in {"", "."}:
        return f"users/{user}"
    return f"history/{user}" if path == "history" else f"users/{user}/{path}"
