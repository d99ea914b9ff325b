"""The demonstration as data."""

from collections.abc import Sequence
from typing import Any


class DemoRecord:
    """Collects the demonstration as JSON."""

    def __init__(self) -> None:
        self.scenes: list[dict[str, Any]] = []

    def show_scene(self, title: str) -> None:
        """Begin a scene."""
        self.scenes.append({"title": title, "steps": []})

    def show_step(self, text: str, *, held: bool) -> None:
        """Add a step, and whether it went as expected."""
        self.scenes[-1]["steps"].append({"told": text.strip(), "held": held})

    def show_text(self, text: str) -> None:
        """Add some lines as they are."""
        self.scenes[-1]["steps"].append({"text": text})

    def show_rows(self, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Add rows in columns."""
        kept = [dict(zip(headings, map(str, row), strict=True)) for row in rows]
        self.scenes[-1]["steps"].append({"rows": kept})
