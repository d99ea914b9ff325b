"""SQL of the tests: named statements in a .sql file beside the module."""

import re
from pathlib import Path

_NAME = re.compile(r"^-- name: (.+)$", re.MULTILINE)


def named_sql(module: str) -> dict[str, str]:
    """Read the statements in the .sql file of this module's name."""
    _, *parts = _NAME.split(Path(module).with_suffix(".sql").read_text("utf-8"))
    return dict(zip(parts[::2], (each.strip() for each in parts[1::2]), strict=True))
