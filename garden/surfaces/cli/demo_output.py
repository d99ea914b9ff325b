"""The demonstration told: on a terminal, or as a record for programs."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from garden.surfaces.cli.render import DIFF_COLOURS, say, show_table


class Terminal:
    """Shows the demonstration."""

    def scene(self, title: str) -> None:
        """Print a heading."""
        say(Text(f"\n{title}", style="bold cyan"))

    def step(self, told: str, *, held: bool) -> None:
        """Print what was done, with a mark that says whether it went as told."""
        mark = ("  ✓ ", "green") if held else ("  ✗ ", "bold red")
        say(Text.assemble(mark, told))

    def text(self, text: str) -> None:
        """Print lines; those of a diff in its colours."""
        for line in text.splitlines():
            say(Text(f"    {line}", style=DIFF_COLOURS.get(line[:1], "dim")))

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Print rows in columns."""
        show_table(headings, rows)


class Record:
    """Keeps the demonstration's steps, for programs."""

    def __init__(self) -> None:
        self.scenes: list[dict[str, Any]] = []

    def scene(self, title: str) -> None:
        """Begin a scene."""
        self.scenes.append({"title": title, "steps": []})

    def step(self, told: str, *, held: bool) -> None:
        """Keep what was done."""
        self.scenes[-1]["steps"].append({"told": told.strip(), "held": held})

    def text(self, text: str) -> None:
        """Keep lines as they are."""
        self.scenes[-1]["steps"].append({"text": text})

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Keep rows."""
        kept = [dict(zip(headings, map(str, row), strict=True)) for row in rows]
        self.scenes[-1]["steps"].append({"rows": kept})
