"""Memories for people: the place that opens in an editor, the text, and how a score came about."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer
from rich.style import Style
from rich.text import Text

from garden.grammar.document import Document
from garden.grammar.errors import GardenError
from garden.grammar.lines import flat
from garden.grammar.parser import parse
from garden.passages.naming import parse_passage_id
from garden.surfaces.cli.answers import result_or_exit
from garden.surfaces.cli.desk import Desk, open_desk
from garden.surfaces.cli.render import escape_controls, say, show_table

_LINES_MAX = 6
_BULLET = r"[ \t]*(?:(?:[-+*]|[0-9]+[.)])[ \t]+)?"


def find_and_show(
    context: typer.Context, tool: str, user: str | None, paths: list[str] | None, *,
    as_json: bool, **args: Any,
) -> Any:  # fmt: skip
    """Ask a tool for memories and print them."""
    with open_desk(context, user, *(paths or ())) as desk:
        envelope = desk.call(tool, paths=[desk.path(each) for each in paths] if paths else None, **args)
        found = result_or_exit(envelope, as_json=as_json)
        if not as_json:
            _show_memories(desk, found["memories"])
    return found


def _show_memories(desk: Desk, memories: Sequence[dict[str, Any]]) -> None:
    """Print memories with their places, matched words marked, and the shares of scores that are explained."""
    found = {path: _document(desk, path) for path in {each["path"] for each in memories}}
    places = [_place(desk.garden.home.path / each["path"], each, found[each["path"]]) for each in memories]
    for each, place in zip(memories, places, strict=True):
        about = filter(None, (each["heading"], each.get("day"), each.get("actor")))
        name = parse_passage_id(each["id"])[2]
        say(Text.assemble(place, (f"  {' · '.join(about)}", "cyan"), (f"  {name}", "dim")))
        for line in _shown_lines(each):
            say(line)
    if memories and "signals" in memories[0]:
        say("")
        shares = [{**each["signals"], "score": each["scores"]["combined"]} for each in memories]
        short = [place.plain.rpartition(f"users/{desk.user}/")[2] for place in places]
        rows = [[place, *(f"{share:.3f}" for share in row.values())]
                for place, row in zip(short, shares, strict=True)]  # fmt: skip
        show_table(("place", *shares[0]), rows)


def line_of(document: Document, passage_id: str, passage: str) -> int | None:
    """The line on which a passage begins; None if the document does not have it."""
    _, anchor, name = parse_passage_id(passage_id)
    nth, line = int(name.partition("~")[2] or 1), 1
    words = r"[ \t]*\n[ \t]*".join(re.escape(each.strip()) for each in passage.split("\n"))
    for content in document.contents:
        written = flat(content.text)
        if content.section_name == anchor:
            for found in re.finditer(rf"^{_BULLET}{words}[ \t]*$(?!\n[ \t]+\S)", written, re.MULTILINE):
                nth -= 1
                if nth == 0:
                    return line + written.count("\n", 0, found.start())
        line += written.count("\n")
    return None


def _document(desk: Desk, path: str) -> Document | None:
    try:
        return parse(desk.garden.lookups.text(desk.session.access, path).text)
    except GardenError:
        # An answer of an earlier time names documents that are gone.
        return None


def _place(file: Path, memory: dict[str, Any], document: Document | None) -> Text:
    """The file, linked, and the line; below the current folder, from there."""
    short = file
    with suppress(OSError, ValueError):
        # The current folder may be elsewhere, or gone.
        short = file.relative_to(Path.cwd())
    line = document and line_of(document, memory["id"], memory["text"])
    style = Style(color="magenta", link=file.as_uri() if document else None)
    return Text.assemble((f"{short}:{line}" if line else str(short), style))


def _shown_lines(memory: dict[str, Any]) -> list[Text]:
    # Rich would drop some control characters.
    lines = escape_controls(memory["text"]).split("\n")
    rest = [f"… {len(lines) - _LINES_MAX} more lines"] if lines[_LINES_MAX:] else []
    shown = [Text(f"    {line}") for line in (*lines[:_LINES_MAX], *rest)]
    for word in memory.get("matched", ()):
        # Unspaced words match in parts.
        end = r"\b" if word.isascii() else ""
        for line in shown:
            line.highlight_regex(f"{end}{re.escape(word)}{end}", "bold red")
    return shown
