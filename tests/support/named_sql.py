"""SQL of the tests, kept as the house keeps its own: named statements in a .sql file beside the module."""

import re
from pathlib import Path

_NAME = re.compile(r"^-- name: (.+)$", re.MULTILINE)


def named_sql(module: str) -> dict[str, str]:
    """Read the statements in the file that is named as this module is."""
    _, *parts = _NAME.split(Path(module).with_suffix(".sql").read_text("utf-8"))
    return dict(zip(parts[::2], (each.strip() for each in parts[1::2]), strict=True))
