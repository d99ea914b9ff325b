"""Showing results: tables and colours for people on a terminal, plain columns and JSON for programs."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from events.verifying import Verdict
from garden.doctor import Finding
from garden.importing import Imported

# Wide enough that a column is never cut where nobody's window limits it.
_UNLIMITED_WIDTH = 10_000

Thing = TypeVar("Thing")

_COLOURS = {"ok": "green", "warning": "yellow", "failed": "bold red", "skipped": "dim"}


def show_json(value: Any) -> None:
    """Print one JSON value."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def show_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows in columns."""
    table = Table(*headings, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(str(cell), overflow="fold") for cell in row))
    _console(sys.stdout).print(table)


def show_finding(finding: Finding) -> None:
    """Print one finding of the doctor's, and its hint below it."""
    console = _console(sys.stdout)
    mark = (f"{finding.status:<8}", _COLOURS[finding.status])
    console.print(Text.assemble(mark, f"{finding.check:<12} {finding.message}"), soft_wrap=True)
    if finding.hint:
        console.print(Text(f"{'':<8}→ {finding.hint}", style="dim"), soft_wrap=True)


def show_verdict(user_id: str, verdict: Verdict) -> None:
    """Print what the check of one user's account found."""
    status = "ok" if verdict.holds else "failed"
    console = _console(sys.stdout)
    console.print(
        Text.assemble((f"{status:<8}", _COLOURS[status]), f"{user_id}: {verdict.events} events"),
        soft_wrap=True,
    )
    for fault in verdict.faults:
        place = f"{fault.stream or 'journal'}, event {fault.event_id} ({fault.sequence})"
        console.print(Text(f"{'':<8}{place}: {fault.message}"), soft_wrap=True)


def tracked(things: Sequence[Thing], what: str) -> Iterable[Thing]:
    """Go through things with a bar on standard error that shows how far it has come."""
    console = _console(sys.stderr)
    return track(things, what, console=console, transient=True, disable=not sys.stderr.isatty())


def show_import(done: Sequence[Imported]) -> None:
    """Print what was refused and why, and how much of everything there was."""
    console = _console(sys.stdout)
    for each in done:
        if each.outcome == "refused":
            console.print(
                Text.assemble(("refused ", _COLOURS["failed"]), f"{each.file}: {each.message}"),
                soft_wrap=True,
            )
            console.print(Text(f"{'':<8}→ {each.hint}", style="dim"), soft_wrap=True)
    counts = Counter(each.outcome for each in done)
    console.print(
        f"{counts['imported']} imported, {counts['unchanged']} here already, {counts['refused']} refused."
    )


class Terminal:
    """Shows the demonstration."""

    def __init__(self) -> None:
        self._console = _console(sys.stdout)

    def scene(self, title: str) -> None:
        """Print a heading."""
        self._console.print(Text(f"\n{title}", style="bold cyan"), soft_wrap=True)

    def step(self, told: str, *, held: bool) -> None:
        """Print what was done, with a mark that says whether it went as told."""
        mark = ("  ✓ ", "green") if held else ("  ✗ ", "bold red")
        self._console.print(Text.assemble(mark, told), soft_wrap=True)

    def text(self, text: str) -> None:
        """Print lines; those of a diff in its colours."""
        for line in text.splitlines():
            style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
            self._console.print(Text(f"    {line}", style=style), soft_wrap=True)

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Print rows in columns."""
        show_table(headings, rows)


def show_progress(step: str) -> None:
    """Say on standard error what is being done."""
    _console(sys.stderr).print(Text(step, style="dim"), soft_wrap=True)


def show_error(message: str, hint: str) -> None:
    """Say on standard error what went wrong and what to do."""
    console = _console(sys.stderr)
    console.print(Text.assemble(("error: ", "bold red"), message), soft_wrap=True)
    if hint:
        console.print(Text.assemble(("hint:  ", "bold"), hint), soft_wrap=True)


def _console(stream: Any) -> Console:
    return Console(file=stream, width=None if stream.isatty() else _UNLIMITED_WIDTH, highlight=False)
