"""Parses a text into a `Document`: frontmatter, then headings, then sections."""

import re
from collections import Counter
from collections.abc import Iterator

from garden.grammar.blocks import code_starts
from garden.grammar.document import Document, Section
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
    headings = find_headings(flat_text, body_start)
    sections = tuple(_sections(text, flat_text, headings))
    problems = (
        *_frontmatter_problems(flat_text, start, body_start, frontmatter),
        *_anchor_problems(flat_text, body_start, sections),
    )
    return Document(text, newline_of(text), frontmatter, headings, sections, problems)


def _sections(text: str, flat_text: str, headings: tuple[Heading, ...]) -> Iterator[Section]:
    borders = [heading for heading in headings if heading.level <= 2]
    ends = [heading.span.start for heading in borders[1:]] + [len(text)]
    for heading, end in zip(borders, ends, strict=False):
        if heading.level == 2:
            yield _section(text, flat_text, heading, end)


def _section(text: str, flat_text: str, heading: Heading, end: int) -> Section:
    head_end, anchor, anchor_span = heading.span.end, None, None
    match = _ANCHOR_LINE.match(flat_text, head_end, end)
    if match:
        anchor = Anchor(match[1], int(match[2]))
        anchor_span = Span(head_end, match.end())
        head_end = match.end()
    head_lines = flat_text.count("\n", heading.span.start, head_end)
    return Section(
        heading,
        anchor,
        anchor_span,
        Span(heading.span.start, end),
        Span(head_end, end),
        heading.line + head_lines,
        text[heading.span.start : end],
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


def _anchor_problems(flat_text: str, body_start: int, sections: tuple[Section, ...]) -> Iterator[Problem]:
    if flat_text.count("@anchor", body_start) != sum(section.anchor is not None for section in sections):
        yield from _stray_anchors(flat_text, body_start, sections)
    counts = Counter(section.anchor for section in sections if section.anchor)
    for section in sections:
        if section.anchor and section.anchor_span and counts[section.anchor] > 1:
            message = f"The anchor {section.anchor} is under {counts[section.anchor]} headings."
            yield Problem("anchor_duplicate", message, section.anchor_span, section.body_line - 1)


def _stray_anchors(flat_text: str, body_start: int, sections: tuple[Section, ...]) -> Iterator[Problem]:
    known = {section.anchor_span.start for section in sections if section.anchor_span}
    unknown = [match for match in _ANCHOR_LIKE.finditer(flat_text, body_start) if match.start() not in known]
    code = code_starts(flat_text, body_start) if unknown else set()
    line, counted_to = 1, 0
    for match in unknown:
        if match.start() not in code:
            message = "This anchor is not well-formed, or not on the line right after an H2 heading."
            line += flat_text.count("\n", counted_to, match.start())
            counted_to = match.start()
            yield Problem("anchor_stray", message, Span(*match.span()), line)


def _problem(flat_text: str, code: str, message: str, span: Span) -> Problem:
    return Problem(code, message, span, flat_text.count("\n", 0, span.start) + 1)
