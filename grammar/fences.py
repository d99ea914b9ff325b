"""Fences around words that are data, so that a reader sees where they end."""

import re
from collections.abc import Iterable


def fence_around(texts: Iterable[str]) -> str:
    """A fence longer than any in these texts, so that none of them can close it."""
    runs: Iterable[str] = (run for text in texts for run in re.findall("~+", text))
    return max(("~~", *runs), key=len) + "~"
