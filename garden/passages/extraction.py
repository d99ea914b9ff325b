"""The passages of a section: the items of its lists, its dated entries, paragraphs and other blocks.

A section is first cut into pieces that can be read alone: where an item, a dated entry or a paragraph begins
below everything above it. So a change is compared piece by piece, and only the pieces around it are read.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import NamedTuple, cast

from garden.grammar.attributes import Attributes, read_attributes
from garden.grammar.blocks import block_tokens, line_starts
from garden.grammar.document import SectionContent
from garden.grammar.items import find_items
from garden.grammar.lines import flat
from garden.grammar.splice import common_prefix
from garden.passages.languages import JUDGED_CHARACTERS, detected_language

ANALYSIS = 1
"""The number of these rules; rows made by others are made again."""

_DAY = r"[*_]{0,2}[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])"
_BULLET = r"[-+*][ \t]+"
_DATED_START = rf"(?<=[\n>]\n){_DAY}"
# Up to its end, a fence or comment hides what is in it. `NAME` becomes the name of a group.
_HIDING = (
    r" {0,3}(?P<NAME>`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})[^\n]*(?:\n[^\n]*)*?"
    r"(?:\n {0,3}(?P=NAME)[`~]*[ \t]*(?=\n|\Z)|\Z)| {0,3}<!--[\s\S]*?(?:-->|\Z)"
)
# An item, a paragraph or a dated entry. To an entry belongs all up to the next entry or item, and the items
# right below a first line that ends with a colon. Each begins with a line feed, which is found fast.
_START = re.compile(
    rf"\n(?:{_HIDING.replace('NAME', 'fence')}|(?P<start>{_BULLET}(?=\S)|(?<=\n\n)[^\W\d_]"
    rf"|{_DATED_START}[^\n]*(?:(?<=:)(?:\n+(?:{_BULLET}(?!{_DAY})|[ \t])[^\n]+)+)?"
    rf"(?:\n(?:{_HIDING.replace('NAME', 'inner')}|(?!{_BULLET}\S|{_DATED_START})[^\n]*))*))"
)
_DATED = re.compile(_DAY)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_ITEM = re.compile(r"- (?![ \t>+*-]|[0-9]{1,9}[.)])([^\n]*[^ \t\n])[ \t]*\n*")
_LINE_END = re.compile(r"(?<![ \t])[ \t]++$", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n*[^\W\d_][^\n]*(?:\n[^\W\d_][^\n]*)*\n*")
_VERBATIM = ("```", "~~~", ">", "|", "<")
_QUARTERS = {"": "01", "Q1": "01", "Q2": "04", "Q3": "07", "Q4": "10"}


class Place(NamedTuple):
    """What a piece of a section has from the text around it."""

    anchor: str
    heading: str
    day: date | None
    language: str


class Passage(NamedTuple):
    """A passage of a section, without its place in the text.

    `heading` is the section's heading, and after ` > ` the headings below it that the passage stands under.
    `text` is that of the item, entry or paragraph without its list marker, with what is nested in it. `day`
    is the one that the passage itself, or the dated heading above it, names.
    """

    anchor: str
    heading: str
    text: str
    day: date | None
    language: str
    tags: tuple[str, ...]
    priority: int | None
    summary_type: str | None
    period_key: str | None


Piece = tuple[str, Place]
PIECE_TEXT = itemgetter(0)


def kept_pieces(
    content: SectionContent, language: str | None, before: SectionContent | None = None
) -> list[Piece]:
    """Return the pieces that are kept with a section; at first those above a change come from before."""
    key = kept_pieces, language
    if key not in content.kept:
        content.kept[key] = pieces_of(content, language, before)
    return cast("list[Piece]", content.kept[key])


def pieces_of(
    content: SectionContent, language: str | None, before: SectionContent | None = None
) -> list[Piece]:
    """Cut the body of a section into pieces; without a language, in the one it seems to be in."""
    text, start = flat(content.text), content.head_end
    spoken = language or detected_language(text[start : start + JUDGED_CHARACTERS])
    pieces, reached = _above_change(content, before, spoken, language) if before else ([], start)
    headings = {content.level: content.heading.text} if content.level else {}
    for below in (*content.headings[bool(content.level) :], None):
        end = below.span.start if below else len(text)
        if end > reached:
            place = _place(content, [*headings.values()], spoken)
            starts = [
                match.start() + 1
                for match in _START.finditer(text, max(reached - 1, 0), end)
                if match["start"]
            ]
            borders = [reached, *(each for each in starts if each > reached), end]
            pieces += [(text[first:after], place) for first, after in pairwise(borders)]
            reached = end
        if below:
            headings = {level: words for level, words in headings.items() if level < below.level}
            headings[below.level] = below.text
    return pieces


def _place(content: SectionContent, headings: list[str], language: str) -> Place:
    days = [_date(found) for words in headings for found in _DATE.findall(words)]
    day = next((day for day in reversed(days) if day), None)
    return Place(content.section_name, " > ".join(headings), day, language)


def _above_change(
    content: SectionContent, before: SectionContent, spoken: str, language: str | None
) -> tuple[list[Piece], int]:
    """The pieces of an earlier version that stay, as the start of the next one does, and their end."""
    pieces = kept_pieces(before, language)
    if not pieces or pieces[0][1].language != spoken or before.head_end != content.head_end:
        return [], content.head_end
    ends = [*accumulate(map(len, map(PIECE_TEXT, pieces)), initial=content.head_end)]
    kept = max(bisect_right(ends, common_prefix(before.text, content.text)) - 3, 0)
    return pieces[:kept], ends[kept]


def passages_in(text: str, place: Place) -> list[Passage]:
    """List the passages of a piece."""
    # Most pieces are a plain item or entry, which is read fast.
    plain = _ITEM.fullmatch(text)
    blocks = [plain[1]] if plain else [_tidy(text)] if _DATED.match(text) else _blocks(text)
    return [_passage(block, place) for block in blocks if block.strip()]


def _blocks(piece: str) -> Iterator[str]:
    end = 0
    for item in find_items(piece, 0, 1):
        yield from _other_blocks(piece[end : item.span.start])
        yield item.text
        end = item.span.end
    yield from _other_blocks(piece[end:])


def _other_blocks(text: str) -> Iterator[str]:
    """Yield the paragraphs, fences, quotes and tables of a text without lists."""
    if not text.strip() or _PARAGRAPH.fullmatch(text):
        yield _tidy(text)
        return
    starts = line_starts(text)
    for token in block_tokens(text):
        if token.level == 0 and token.map and token.type not in ("hr", "heading_open"):
            first, after = token.map
            block = _tidy(text[starts[first] : starts[min(after, len(starts) - 1)]])
            if not block.startswith("<!--"):
                yield block


def _tidy(text: str) -> str:
    return _LINE_END.sub("", text.strip("\n")).rstrip("\n")


def _passage(text: str, place: Place) -> Passage:
    anchor, heading, day, language = place
    read = Attributes(text) if text.startswith(_VERBATIM) else read_attributes(text)
    if dated := _DATED.match(text):
        day = _date(dated[0].lstrip("*_")) or day
    elif read.period_key:
        day = _first_day(read.period_key) or day
    tags = tuple(dict.fromkeys(map(str.casefold, read.tags))) if read.tags else ()
    return Passage(anchor, heading, text, day, language, tags, *read[2:5])


def _first_day(period_key: str) -> date | None:
    year, _, rest = period_key.partition("-")
    if rest.startswith("W"):
        return _date(f"{period_key}-1")
    return _date(period_key if len(rest) > 2 else f"{year}-{_QUARTERS.get(rest, rest)}-01")


def _date(text: str) -> date | None:
    with suppress(ValueError):
        return date.fromisoformat(text)
    return None
