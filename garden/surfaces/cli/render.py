"""Printing: tables and colours on a terminal, plain columns and JSON elsewhere.

Rich is loaded for a terminal and for tables: a plain line does without.
"""

import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager, suppress
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Wide enough that no column is cut where no window limits it.
_UNLIMITED_WIDTH = 10_000
# On a narrower terminal columns would be a few letters wide; each cell gets a line of its own instead.
_NARROW_COLUMNS = 60
# Characters that control a terminal, or reverse the order of letters, are shown as signs.
_OVERRIDES = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SIGNS = (
    {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
    | {127: 0x2421}
    | dict.fromkeys((*range(128, 160), *_OVERRIDES), 0xFFFD)
)
# JSON keeps them so; it escapes the others itself.
_JSON_ESCAPES = {code: f"\\u{code:04x}" for code in _SIGNS if code > 32}

_Item = TypeVar("_Item")

COLOURS = {"ok": "green", "warning": "yellow", "failed": "bold red", "skipped": "dim"}
DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def show_json(value: Any, *, indent: int | None = 2) -> None:
    """Print one JSON value; a dataclass becomes an object."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, default=_as_json)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent, default=_as_json)
    print(text.translate(_JSON_ESCAPES))


def _as_json(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def show(value: Any, line: str, *, as_json: bool) -> None:
    """Print a value as JSON, or the line that says it to people."""
    if as_json:
        show_json(value)
    else:
        print(line)


def show_table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, headed: bool = True) -> None:
    """Print rows in columns, or cell by cell if the terminal is too narrow."""
    cells = [[_cell(cell) for cell in row] for row in rows]
    if sys.stdout.isatty() and len(headings) > 2 and shutil.get_terminal_size().columns < _NARROW_COLUMNS:
        _show_blocks(headings, cells)
        return
    from rich.text import Text

    if not sys.stdout.isatty():
        _print_columns(([Text(heading) for heading in headings], *cells) if headed else cells)
        return
    from rich.table import Table

    table = Table(*headings, box=None, pad_edge=False, header_style="bold", show_header=headed)
    for row in cells:
        table.add_row(*row)
    console(sys.stdout).print(table)


def _cell(value: object) -> "Text":
    from rich.text import Text

    if isinstance(value, Text):
        return value
    return Text(escape_controls(" ".join(str(value).split())), overflow="fold")


def _print_columns(rows: "Sequence[Sequence[Text]]") -> None:
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (cell.plain + " " * (width - cell.cell_len) for cell, width in zip(row, widths, strict=True))
        print("  ".join(padded).rstrip())


def _show_blocks(headings: Sequence[str], rows: "Sequence[Sequence[Text]]") -> None:
    from rich.text import Text

    screen = console(sys.stdout)
    for row in rows:
        for heading, cell in zip(headings, row, strict=True):
            if cell.plain:
                screen.print(Text.assemble((f"{heading}: ", "bold"), cell))
        screen.print()


def say(line: "str | Text", style: str = "", *, error: bool = False) -> None:
    """Print a line of any length on standard output, or on standard error; the style is for a terminal."""
    stream = sys.stderr if error else sys.stdout
    if not stream.isatty():
        print(_for_pipe(line if isinstance(line, str) else line.plain), file=stream)
        return
    from rich.text import Text

    text = Text(line, style) if isinstance(line, str) else line.copy()
    text.plain = escape_controls(text.plain)
    console(stream).print(text, soft_wrap=True)


def show_text(text: str, *, raw: bool = False) -> None:
    """Print a document's text, with its control characters as signs unless it is `raw` or goes into a file.

    A pipe keeps every other byte: it may end at a terminal, or at a program that compares.
    """
    if sys.stdout.isatty() and not raw:
        shown = escape_controls(text.replace("\r\n", "\n"))
        sys.stdout.write(shown if shown.endswith("\n") or not shown else f"{shown}\n")
        return
    sys.stdout.flush()
    if not raw and not _is_file(sys.stdout):
        text = _for_pipe(text)
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()


def _is_file(stream: TextIO) -> bool:
    with suppress(OSError):
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    return False


def show_diff(diff: str, *, error: bool = False) -> None:
    """Print a unified diff, coloured on a terminal, on standard output or on standard error."""
    # No other character ends a line: an agent could forge one.
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        say(line, DIFF_COLOURS.get(line[:1], ""), error=error)


def show_progress(step: str) -> None:
    """Print the current step on standard error."""
    say(step, "dim", error=True)


def show_warnings(warnings: Iterable[str]) -> None:
    """Print warnings on standard error."""
    for warning in warnings:
        _say_labelled("warning: ", "yellow", warning)


def show_error(message: str, hint: str) -> None:
    """Print an error and its hint on standard error."""
    _say_labelled("error: ", "bold red", message)
    show_hint(hint)


def show_hint(hint: str) -> None:
    """Print a hint, unless it is empty, on standard error."""
    if hint:
        _say_labelled("hint:  ", "bold", hint)


def _say_labelled(label: str, style: str, text: str) -> None:
    if not sys.stderr.isatty():
        say(label + text, error=True)
        return
    from rich.text import Text

    say(Text.assemble((label, style), text), error=True)


def with_progress(items: Iterable[_Item], label: str) -> Iterator[_Item]:
    """Iterate with a progress bar on standard error, if that is a terminal; print nothing meanwhile."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.progress import Progress

    # By default it would redirect standard output to standard error.
    with Progress(
        console=console(sys.stderr), transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        yield from bar.track(items, total=len(items) if isinstance(items, Sized) else None, description=label)


@contextmanager
def status_line(label: str) -> Iterator[Callable[[str], None]]:
    """Show what is being done on standard error, if that is a terminal; yields the function that says it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with console(sys.stderr).status(label) as line:
        yield lambda text: line.update(f"{label} {text}")


def escape_controls(text: str) -> str:
    """Replace control characters by signs; a pipe, too, may end at a terminal."""
    return text.translate(_SIGNS)


def _for_pipe(text: str) -> str:
    """Replace control characters by signs, and keep the line ends."""
    return re.sub(r"[^\r]+|\r(?!\n|\Z)", lambda found: escape_controls(found[0]), text)


def console(stream: TextIO) -> "Console":
    """Console on a stream: coloured and as wide as the terminal, or plain and unlimited."""
    from rich.console import Console

    class Unbroken(Console):
        """A console that raises on a broken pipe, so that `main` ends the command; Rich would end it."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    is_terminal = stream.isatty()
    plain = not is_terminal or bool(os.environ.get("NO_COLOR"))
    return Unbroken(
        file=stream,
        width=None if is_terminal else _UNLIMITED_WIDTH,
        highlight=False,
        color_system=None if plain else "auto",
    )
