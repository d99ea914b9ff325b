"""Cuts a text into contents at its H1 and H2 headings, and reads the anchor of each."""

import re
from collections.abc import Sequence

from garden.grammar.blocks import code_starts
from garden.grammar.document import SECTION_LEVEL, SectionContent
from garden.grammar.lines import flat
from garden.grammar.scanner import may_hold_headings
from garden.grammar.values import Anchor, Heading, Problem, Span

_ANCHOR_LINE = re.compile(
    r" {0,3}<!--[ \t]*@anchor:[ \t]*([A-Za-z0-9][A-Za-z0-9_-]*)[ \t]+v([0-9]{1,9})[ \t]*-->[ \t]*(?:\n|\Z)"
)
_ANCHOR_LIKE = re.compile(r"^[ \t>]*<!--[^\S\n]*@anchor\b[^\n]*", re.MULTILINE)


def contents_of(text: str, flat_text: str, headings: Sequence[Heading]) -> list[SectionContent]:
    """Cut a text from its first H1 or H2 on."""
    borders = [place for place, heading in enumerate(headings) if heading.level <= SECTION_LEVEL]
    starts = [headings[place].span.start for place in borders]
    ends = zip(starts, [*starts[1:], len(text)], strict=False)
    return [
        _content(text[start:end], flat_text[start:end], headings[place:after])
        for place, after, (start, end) in zip(borders, [*borders[1:], len(headings)], ends, strict=False)
    ]


def content_above(text: str, flat_text: str, body_start: int, headings: Sequence[Heading]) -> SectionContent:
    """Return the content above the first H1 or H2; its Markdown begins at `body_start`."""
    first = next((heading.span.start for heading in headings if heading.level <= SECTION_LEVEL), len(text))
    own = tuple(heading for heading in headings if heading.span.start < first)
    lines = flat_text.count("\n", 0, body_start)
    return SectionContent(
        text[:first], 0, own, None, body_start, lines, _strays(flat_text[:first], body_start)
    )


def _content(text: str, flat_text: str, headings: Sequence[Heading]) -> SectionContent:
    first = headings[0]
    own = tuple(heading.moved(-first.span.start, 1 - first.line) for heading in headings)
    head_end = body_start = own[0].span.end
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


def with_other_body(
    old: SectionContent, text: str, below: SectionContent | None = None
) -> SectionContent | None:
    """Return the content of a text with the head of an earlier one; None where that is not sure at once."""
    head, body = old.text[: old.head_end], flat(text[old.head_end :])
    has_head = head[-1:] == "\n" and text.startswith(head)
    has_end = below is None or (text[-1] == "\n" and below.closes_above)
    if not (has_head and has_end and old.closes_above) or "@anchor" in body or may_hold_headings(body):
        return None
    return SectionContent(text, old.level, old.headings[:1], old.anchor, old.head_end, old.head_lines, ())


def _strays(flat_text: str, start: int, owned: int | None = None) -> tuple[Problem, ...]:
    """Find the anchor comments from `start` on that name no section; the one at `owned` names its own."""
    if flat_text.count("@anchor", start) == (owned is not None):
        return ()
    code = code_starts(flat_text, start)
    message = "This anchor is not well-formed, or not on the line right after an H2 heading."
    return tuple(
        Problem("anchor_stray", message, Span(*match.span()), flat_text.count("\n", 0, match.start()) + 1)
        for match in _ANCHOR_LIKE.finditer(flat_text, start)
        if match.start() != owned and match.start() not in code
    )
