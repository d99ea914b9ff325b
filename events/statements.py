"""SQL kept in .sql files: each statement has a name there, and Python calls it by that name."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

_NAME = re.compile(r"^-- name: ([a-z_]+)$", re.MULTILINE)


@cache
def statements(file: str) -> Mapping[str, bytes]:
    """Read the named statements of `events/sql/<file>.sql`."""
    text = resources.files("garden.events").joinpath("sql", f"{file}.sql").read_text("utf-8")
    _, *parts = _NAME.split(text)
    return MappingProxyType(
        {name: sql.strip().encode() for name, sql in zip(parts[::2], parts[1::2], strict=True)}
    )
