"""Showing results: tables and colours for people on a terminal, plain columns and JSON for programs."""

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, TextIO, TypeVar

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

# Wide enough that a column is never cut where nobody's window limits it.
_UNLIMITED_WIDTH = 10_000
# Columns on a narrower terminal would be a few letters wide; there each row is written below the one before.
_NARROW_COLUMNS = 60
# What would drive a terminal, or turn the order of its letters round, is shown by a sign that stands for it.
_OVERRIDES = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_HARMLESS = (
    {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
    | {127: 0x2421}
    | dict.fromkeys((*range(128, 160), *_OVERRIDES), 0xFFFD)
)

Thing = TypeVar("Thing")

COLOURS = {"ok": "green", "warning": "yellow", "failed": "bold red", "skipped": "dim"}
DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def show_json(value: Any, *, indent: int | None = 2) -> None:
    """Print one JSON value."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, default=str)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent, default=str)
    print(harmless(text, sys.stdout))


def show_table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, headed: bool = True) -> None:
    """Print rows in columns, or below each other where a terminal has no room for columns."""
    cells = [[_cell(cell) for cell in row] for row in rows]
    if sys.stdout.isatty() and len(headings) > 2 and shutil.get_terminal_size().columns < _NARROW_COLUMNS:
        _show_blocks(headings, cells)
        return
    if not sys.stdout.isatty():
        _print_columns(([Text(heading) for heading in headings], *cells) if headed else cells)
        return
    table = Table(*headings, box=None, pad_edge=False, header_style="bold", show_header=headed)
    for row in cells:
        table.add_row(*row)
    console(sys.stdout).print(table)


def _cell(value: object) -> Text:
    if isinstance(value, Text):
        return value
    return Text(harmless(" ".join(str(value).split()), sys.stdout), overflow="fold")


def _print_columns(rows: Sequence[Sequence[Text]]) -> None:
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (cell.plain + " " * (width - cell.cell_len) for cell, width in zip(row, widths, strict=True))
        print("  ".join(padded).rstrip())


def _show_blocks(headings: Sequence[str], rows: Sequence[Sequence[Text]]) -> None:
    screen = console(sys.stdout)
    for row in rows:
        for heading, cell in zip(headings, row, strict=True):
            if cell.plain:
                screen.print(Text.assemble((f"{heading}: ", "bold"), cell))
        screen.print()


def say(words: str | Text, *, error: bool = False) -> None:
    """Print a line, of any length, on standard output or on standard error."""
    stream = sys.stderr if error else sys.stdout
    text = words.copy() if isinstance(words, Text) else Text(words)
    text.plain = harmless(text.plain, stream)
    console(stream).print(text, soft_wrap=True)


def show_text(text: str) -> None:
    """Print a document's text: on a terminal so that it can do nothing there, else byte for byte."""
    if sys.stdout.isatty():
        shown = harmless(text.replace("\r\n", "\n"), sys.stdout)
        sys.stdout.write(shown if shown.endswith("\n") or not shown else f"{shown}\n")
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()


def show_diff(diff: str) -> None:
    """Print a unified diff, on a terminal in its colours."""
    for line in diff.splitlines():
        say(Text(line, style=DIFF_COLOURS.get(line[:1], "")))


def show_progress(step: str) -> None:
    """Say on standard error what is being done."""
    say(Text(step, style="dim"), error=True)


def show_warnings(warnings: Iterable[str]) -> None:
    """Say on standard error what is worth knowing beside an answer."""
    for warning in warnings:
        say(Text.assemble(("warning: ", "yellow"), warning), error=True)


def show_note(note: str) -> None:
    """Say on standard error what is worth knowing of what stands on standard output."""
    say(note, error=True)


def show_error(message: str, hint: str) -> None:
    """Say on standard error what went wrong and what to do."""
    say(Text.assemble(("error: ", "bold red"), message), error=True)
    show_hint(hint)


def show_hint(hint: str) -> None:
    """Say on standard error what to do, where there is anything to say."""
    if hint:
        say(Text.assemble(("hint:  ", "bold"), hint), error=True)


def tracked(things: Iterable[Thing], what: str, total: int | None = None) -> Iterator[Thing]:
    """Go through things with a bar on standard error, if that is a terminal, that shows how far it has come.

    Nothing should be printed meanwhile.
    """
    if not sys.stderr.isatty():
        yield from things
        return
    # Left to itself it would send to standard error whatever is printed meanwhile.
    with Progress(
        console=console(sys.stderr), transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        yield from bar.track(
            things, total=len(things) if isinstance(things, Sized) else total, description=what
        )


def harmless(text: str, stream: TextIO) -> str:
    """Show signs instead of what would drive a terminal; elsewhere a text stays as it is."""
    return text.translate(_HARMLESS) if stream.isatty() else text


class _Console(Console):
    """Leaves it to others to end the process where a reader has gone away."""

    def on_broken_pipe(self) -> None:
        """Say so, rather than exit on the spot."""
        raise BrokenPipeError


def console(stream: TextIO) -> Console:
    """Give what prints on a stream: in colours and as wide as it is on a terminal, plain elsewhere."""
    is_terminal = stream.isatty()
    plain = not is_terminal or bool(os.environ.get("NO_COLOR"))
    return _Console(
        file=stream,
        width=None if is_terminal else _UNLIMITED_WIDTH,
        highlight=False,
        color_system=None if plain else "auto",
    )
