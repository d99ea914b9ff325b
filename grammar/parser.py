"""Parses a text into a `Document`: frontmatter, then headings, then sections."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from garden.grammar.blocks import code_starts
from garden.grammar.document import SECTION_LEVEL, Document, SectionContent
from garden.grammar.frontmatter_block import find_frontmatter, find_second_block, opens_without_closing
from garden.grammar.headings import find_headings
from garden.grammar.lines import flat, newline_of
from garden.grammar.values import Anchor, Frontmatter, Heading, Problem, Span

BOM = "\ufeff"

_ANCHOR_LINE = re.compile(
    r" {0,3}<!--[ \t]*@anchor:[ \t]*([A-Za-z0-9][A-Za-z0-9_-]*)[ \t]+v([0-9]{1,9})[ \t]*-->[ \t]*(?:\n|\Z)"
)
_ANCHOR_LIKE = re.compile(r"^[ \t>]*<!--[^\S\n]*@anchor\b[^\n]*", re.MULTILINE)


def parse(text: str) -> Document:
    """Parse any text without raising; `problems` lists what is wrong with it."""
    flat_text = flat(text)
    start = len(BOM) if text.startswith(BOM) else 0
    frontmatter = find_frontmatter(text, flat_text, start)
    body_start = frontmatter.span.end if frontmatter else start
    contents = _contents(text, flat_text, body_start, find_headings(flat_text, body_start))
    problems = tuple(_frontmatter_problems(flat_text, start, body_start, frontmatter))
    return _document(text, frontmatter, contents, problems)


def _document(
    text: str,
    frontmatter: Frontmatter | None,
    contents: tuple[SectionContent, ...],
    problems: tuple[Problem, ...],
) -> Document:
    document = Document(text, newline_of(text), frontmatter, contents, problems)
    found = tuple(_anchor_problems(document))
    return replace(document, problems=problems + found) if found else document


def _contents(
    text: str, flat_text: str, body_start: int, headings: Sequence[Heading]
) -> tuple[SectionContent, ...]:
    """Cut a text at its H1 and H2 headings."""
    borders = [place for place, heading in enumerate(headings) if heading.level <= SECTION_LEVEL]
    starts = [headings[place].span.start for place in borders]
    afters, ends = [*borders, len(headings)], [*starts, len(text)]
    contents = [_above(text[: ends[0]], flat_text[: ends[0]], body_start, headings[: afters[0]])]
    for place, after, start, end in zip(borders, afters[1:], starts, ends[1:], strict=True):
        contents.append(_content(text[start:end], flat_text[start:end], headings[place:after]))
    return tuple(contents)


def _above(text: str, flat_text: str, body_start: int, headings: Sequence[Heading]) -> SectionContent:
    lines = flat_text.count("\n", 0, body_start)
    strays = _strays(flat_text, body_start)
    return SectionContent(text, 0, tuple(headings), None, body_start, lines, strays)


def _content(text: str, flat_text: str, headings: Sequence[Heading]) -> SectionContent:
    first = headings[0]
    own = tuple(heading.moved(-first.span.start, 1 - first.line) for heading in headings)
    head_end, body_start = own[0].span.end, own[0].span.end
    match = _ANCHOR_LINE.match(flat_text, head_end) if first.level == SECTION_LEVEL else None
    if match:
        body_start = match.end()
    return SectionContent(
        text,
        first.level,
        own,
        Anchor(match[1], int(match[2])) if match else None,
        body_start,
        flat_text.count("\n", 0, body_start),
        _strays(flat_text, 0, head_end if match else None),
    )


def _frontmatter_problems(
    flat_text: str, start: int, body_start: int, frontmatter: Frontmatter | None
) -> Iterator[Problem]:
    if frontmatter:
        for fault in frontmatter.faults:
            yield _problem(
                flat_text, "frontmatter_malformed", f"Malformed frontmatter: {fault}.", frontmatter.span
            )
    elif opens_without_closing(flat_text, start):
        message = "The first line opens frontmatter, but no later line closes it with `---`."
        yield _problem(flat_text, "frontmatter_unclosed", message, Span(start, len(flat_text)))
    second = find_second_block(flat_text, body_start)
    if second:
        message = (
            "A second block of frontmatter with identity keys is below the first."
            if frontmatter
            else "Frontmatter with identity keys must begin on the very first line."
        )
        yield _problem(flat_text, "frontmatter_second", message, second)


def _anchor_problems(document: Document) -> Iterator[Problem]:
    for content, start, line in document.places():
        for stray in content.strays:
            yield stray.moved(start, line - 1)
    counts = Counter(content.anchor for content in document.contents if content.anchor)
    for section in document.sections if len(counts) < counts.total() else ():
        if section.anchor and section.anchor_span and counts[section.anchor] > 1:
            message = f"The anchor {section.anchor} is under {counts[section.anchor]} headings."
            yield Problem("anchor_duplicate", message, section.anchor_span, section.body_line - 1)


def _strays(flat_text: str, start: int, owned: int | None = None) -> tuple[Problem, ...]:
    """Find the anchor comments from `start` on that name no section; the one at `owned` names its own."""
    if flat_text.count("@anchor", start) == (owned is not None):
        return ()
    code = code_starts(flat_text, start)
    message = "This anchor is not well-formed, or not on the line right after an H2 heading."
    return tuple(
        _problem(flat_text, "anchor_stray", message, Span(*match.span()))
        for match in _ANCHOR_LIKE.finditer(flat_text, start)
        if match.start() != owned and match.start() not in code
    )


def _problem(flat_text: str, code: str, message: str, span: Span) -> Problem:
    return Problem(code, message, span, flat_text.count("\n", 0, span.start) + 1)
