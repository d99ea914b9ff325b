"""Parses a text into a `Document`: frontmatter, then headings, then sections."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from garden.grammar.changed_contents import changed_contents
from garden.grammar.contents import content_above, contents_of, with_other_body
from garden.grammar.document import Document, SectionContent
from garden.grammar.frontmatter_block import (
    find_frontmatter,
    find_second_block,
    may_open_second_block,
    opens_without_closing,
)
from garden.grammar.headings import find_headings
from garden.grammar.lines import flat
from garden.grammar.values import Frontmatter, Problem, Span

BOM = "\ufeff"
_TEXT = attrgetter("text")


def parse(text: str, previous: Document | None = None) -> Document:
    """Parse any text without raising; `problems` lists what is wrong with it.

    `previous` is an earlier version: the document is the same without it, but shares what did not change.
    """
    if previous is not None and text == previous.text:
        return previous
    if previous is not None and not _has_open_top(previous):
        contents = changed_contents(previous, text)
        if contents is not None:
            return _document(previous.frontmatter, contents, ())
    flat_text = flat(text)
    start = len(BOM) if text.startswith(BOM) else 0
    frontmatter = find_frontmatter(text, flat_text, start)
    body_start = frontmatter.span.end if frontmatter else start
    headings = find_headings(flat_text, body_start)
    above = content_above(text, flat_text, body_start, headings)
    below = contents_of(text, flat_text, headings[len(above.headings) :])
    problems = tuple(_frontmatter_problems(flat_text, start, body_start, frontmatter))
    return _document(frontmatter, [above, *below], problems)


def with_bodies(document: Document, bodies: Mapping[int, str]) -> Document:
    """Return the document with other bodies for the sections of these numbers, parsed."""
    contents: list[SectionContent | None] = [*document.contents]
    texts = list(map(_TEXT, document.contents))
    for number, body in bodies.items():
        if body == document.contents[number].body:
            continue
        old, below = document.contents[number], document.contents[number + 1 : number + 2]
        texts[number] = old.text[: old.head_end] + body
        contents[number] = with_other_body(old, texts[number], *below)
    known = [content for content in contents if content]
    if len(known) < len(texts) or _has_open_top(document):
        return parse("".join(texts), document)
    return _document(document.frontmatter, known, ())


def _has_open_top(document: Document) -> bool:
    """Whether text further down may decide how the first lines are read."""
    above = document.contents[0]
    return document.malformed or may_open_second_block(flat(above.text), above.head_end)


def _document(
    frontmatter: Frontmatter | None, contents: Sequence[SectionContent], problems: tuple[Problem, ...]
) -> Document:
    document = Document(frontmatter, tuple(contents), problems)
    found = tuple(_anchor_problems(document))
    return replace(document, problems=problems + found) if found else document


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
    for number, content in [each for each in enumerate(document.contents) if each[1].strays]:
        start, line = document.starts[number], document.lines[number]
        for stray in content.strays:
            yield replace(stray, span=stray.span.moved(start), line=stray.line + line - 1)
    anchored = [content for content in document.contents if content.anchor]
    # The text above the first heading has no anchor.
    if len(document.numbers) - 1 < len(anchored):
        yield from _repeated_anchors(document)


def _repeated_anchors(document: Document) -> Iterator[Problem]:
    counts = Counter(content.anchor for content in document.contents)
    for section in document.sections:
        if section.anchor and section.anchor_span and counts[section.anchor] > 1:
            message = f"The anchor {section.anchor} is under {counts[section.anchor]} headings."
            yield Problem("anchor_duplicate", message, section.anchor_span, section.body_line - 1)


def _problem(flat_text: str, code: str, message: str, span: Span) -> Problem:
    return Problem(code, message, span, flat_text.count("\n", 0, span.start) + 1)
