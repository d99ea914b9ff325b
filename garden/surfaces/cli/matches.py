"""Matches of a search, shown as grep shows them."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from rich.text import Text

from garden.surfaces.cli.render import say
from garden.tools.search import Searcher


class Match(NamedTuple):
    """A line that matches, with those around it."""

    path: str
    line: int
    text: str


def show_matches(found: Iterable[tuple[str, int, str]], around: int, searcher: Searcher) -> None:
    """Print matches, those of one document together; lines around several of them are printed once."""
    is_first = True
    for path, matches in groupby((Match(*each) for each in found), key=lambda match: match.path):
        before = 0
        for number, line, is_match in _lines(list(matches), around):
            if around and number != before + 1 and not is_first:
                say(Text("--", style="cyan"))
            is_first, before = False, number
            say(_line(path, number, line, searcher if is_match else None))


def _lines(matches: list[Match], around: int) -> Iterator[tuple[int, str, bool]]:
    lines: dict[int, str] = {}
    for match in matches:
        first = max(match.line - around, 1)
        lines.update(enumerate(match.text.split("\n"), first))
    hits = {match.line for match in matches}
    return ((number, lines[number], number in hits) for number in sorted(lines))


def _line(path: str, number: int, line: str, searcher: Searcher | None) -> Text:
    mark = ":" if searcher else "-"
    shown = Text.assemble((path, "magenta"), (mark, "cyan"), (str(number), "green"), (mark, "cyan"))
    words = Text(line)
    for start, end in searcher.spans(line) if searcher else ():
        words.stylize("bold red", start, end)
    return shown.append_text(words)
