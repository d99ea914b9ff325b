"""A document: one Markdown text, read once, with everything a tool may want to point at.

Reading never raises, and a document keeps the text it was read from, so `render(parse(text)) == text`.
Offsets in spans count characters of that text.
"""

from dataclasses import dataclass
from functools import cached_property

from garden.grammar.canonical import content_hash
from garden.grammar.items import find_items
from garden.grammar.values import Anchor, Frontmatter, Heading, ListItem, Problem, Span

MALFORMED_CODES = frozenset({"frontmatter_malformed", "frontmatter_unclosed", "frontmatter_second"})


@dataclass(frozen=True)
class Section:
    """An H2 heading, the anchor on the line after it, and the body up to the next top-level H2 or H1.

    `span` covers all three. `body_span` begins after the anchor's line (or the heading's, where there is no
    anchor) and keeps the blank lines around the words; `body_line` is its first line.
    """

    heading: Heading
    anchor: Anchor | None
    anchor_span: Span | None
    span: Span
    body_span: Span
    body_line: int
    text: str

    @property
    def name(self) -> str:
        """What a caller may call it: the anchor's `concerns v1`, else the words of the heading."""
        return str(self.anchor) if self.anchor else self.heading.text

    @property
    def line(self) -> int:
        """The line its heading begins on."""
        return self.heading.line

    @cached_property
    def body(self) -> str:
        """The body as it stands, blank lines around it included."""
        return self.text[self.body_span.start - self.span.start :]

    @cached_property
    def items(self) -> tuple[ListItem, ...]:
        """The items of the body's top-level lists, each with all that is nested in it."""
        return find_items(self.body, self.body_span.start, self.body_line)

    @cached_property
    def hash(self) -> str:
        """The content hash of heading, anchor and body in canonical form."""
        return content_hash(self.text)


@dataclass(frozen=True)
class Document:
    """A parsed text. `problems` says what is wrong with it; a `malformed` one is not edited by any tool."""

    text: str
    newline: str
    frontmatter: Frontmatter | None
    headings: tuple[Heading, ...]
    sections: tuple[Section, ...]
    problems: tuple[Problem, ...]

    @cached_property
    def title(self) -> str | None:
        """The words of the first H1."""
        return next((heading.text for heading in self.headings if heading.level == 1), None)

    @property
    def values(self) -> dict[str, object]:
        """The frontmatter's values, empty where there is none or it can't be trusted."""
        return dict(self.frontmatter.values) if self.frontmatter else {}

    @property
    def malformed(self) -> bool:
        """Whether its frontmatter is such that nobody can tell for sure whose document this is."""
        return any(problem.code in MALFORMED_CODES for problem in self.problems)

    @cached_property
    def hash(self) -> str:
        """The content hash of the whole text in canonical form."""
        return content_hash(self.text)


def render(document: Document) -> str:
    """Give back the text of a document, exactly as it was read."""
    return document.text
