"""A document: one parsed Markdown text with its frontmatter, headings, sections and problems.

A document keeps its text, so `parse(text).text == text`. Offsets in spans count characters of that text.
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

    `span` covers all three. `body_span` begins after the anchor's line, or after the heading's if there is no
    anchor, and includes the blank lines around the words; `body_line` is its first line.
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
        """The section's name for callers: the anchor, as in `concerns v1`, else the words of the heading."""
        return str(self.anchor) if self.anchor else self.heading.text

    @property
    def line(self) -> int:
        """The first line of its heading."""
        return self.heading.line

    @cached_property
    def body(self) -> str:
        """The body with the blank lines around it."""
        return self.text[self.body_span.start - self.span.start :]

    @cached_property
    def items(self) -> tuple[ListItem, ...]:
        """The items of the body's top-level lists, each with everything nested in it."""
        return find_items(self.body, self.body_span.start, self.body_line)

    @cached_property
    def hash(self) -> str:
        """The content hash of heading, anchor and body in canonical form."""
        return content_hash(self.text)


@dataclass(frozen=True)
class Document:
    """A parsed text. `problems` lists what is wrong with it; no tool edits a `malformed` document."""

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
        """The frontmatter's values; empty without frontmatter or if it is malformed."""
        return dict(self.frontmatter.values) if self.frontmatter else {}

    @property
    def malformed(self) -> bool:
        """Whether the frontmatter leaves in doubt whose document this is."""
        return any(problem.code in MALFORMED_CODES for problem in self.problems)

    @cached_property
    def hash(self) -> str:
        """The content hash of the whole text in canonical form."""
        return content_hash(self.text)
