"""The top-level headings of a text: by the fast scanner where it is sure, else by markdown-it-py."""

from dataclasses import replace

from garden.grammar.blocks import headings_by_markdown_it
from garden.grammar.scanner import scan_headings
from garden.grammar.values import Heading, Span


def find_headings(flat_text: str, start: int) -> tuple[Heading, ...]:
    r"""Find the top-level headings from `start` on, in a text whose line ends are all `\n`."""
    # The scanner wants a line feed before the first line; where there is none, lend it one.
    lent = start == 0 or flat_text[start - 1] != "\n"
    source = "\n" + flat_text[start:] if lent else flat_text
    source = source.replace("\0", "\ufffd")
    found = scan_headings(source, 1 if lent else start)
    if found is None:
        return _shifted(headings_by_markdown_it(flat_text[start:]), start, flat_text.count("\n", 0, start))
    return _shifted(found, start - 1, -1) if lent else tuple(found)


def _shifted(headings: list[Heading], offset: int, lines: int) -> tuple[Heading, ...]:
    return tuple(
        replace(
            heading,
            span=Span(heading.span.start + offset, heading.span.end + offset),
            line=heading.line + lines,
        )
        for heading in headings
    )
