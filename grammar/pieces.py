"""A document cut at its H1 and H2 headings: what stands above the first, and one piece for each."""

from typing import NamedTuple

from garden.grammar.document import Document


class Piece(NamedTuple):
    """A stretch of a document from one border to the next; `head` is its heading and anchor lines."""

    start: int
    text: str
    head: str


def pieces_of(document: Document) -> list[Piece]:
    """Cut a document into pieces that together are its whole text."""
    borders = [heading.span.start for heading in document.headings if heading.level <= 2]
    head_ends = {section.span.start: section.body_span.start for section in document.sections}
    starts = [0, *borders]
    ends = [*borders, len(document.text)]
    return [
        Piece(
            start, document.text[start:end], document.text[start : head_ends.get(start, start)].rstrip("\r\n")
        )
        for start, end in zip(starts, ends, strict=True)
    ]
