"""The top-level headings of a text: by the fast scanner if it is sure, else by markdown-it-py."""

from garden.grammar.blocks import headings_by_markdown_it
from garden.grammar.scanner import scan_headings
from garden.grammar.values import Heading


def find_headings(flat_text: str, start: int) -> tuple[Heading, ...]:
    r"""Find the top-level headings from `start` on, in a text whose line ends are all `\n`."""
    # The scanner needs a line feed before the first line.
    prefixed = start == 0 or flat_text[start - 1] != "\n"
    source = "\n" + flat_text[start:] if prefixed else flat_text
    source = source.replace("\0", "\ufffd")
    found = scan_headings(source, 1 if prefixed else start)
    if found is None:
        return _shift(headings_by_markdown_it(flat_text[start:]), start, flat_text.count("\n", 0, start))
    return _shift(found, start - 1, -1) if prefixed else tuple(found)


def _shift(headings: list[Heading], offset: int, lines: int) -> tuple[Heading, ...]:
    return tuple(heading.moved(offset, lines) for heading in headings)
