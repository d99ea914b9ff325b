"""A document: one parsed Markdown text with its frontmatter, headings, sections and problems.

A document keeps its text in pieces, its contents, so `parse(text).text == text`: versions of a document share
those that did not change. Offsets in spans count characters of the text.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from operator import attrgetter

from garden.grammar.blocks import replace_surrogates
from garden.grammar.body import Layout, layout_of
from garden.grammar.canonical import TRAILING_SPACE, content_hash, encoded, plain_lines, raw_hash
from garden.grammar.computed import computed
from garden.grammar.items import find_items
from garden.grammar.lines import flat, newline_of
from garden.grammar.values import Anchor, Frontmatter, Heading, ListItem, Problem, Span

MALFORMED_CODES = frozenset({"frontmatter_malformed", "frontmatter_unclosed", "frontmatter_second"})
SECTION_LEVEL = 2

_TEXT, _LINE_ENDS, _ANCHOR = attrgetter("text"), attrgetter("line_ends"), attrgetter("anchor")
_DATA, _IS_PLAIN = attrgetter("data"), attrgetter("is_plain")


@dataclass(frozen=True)
class SectionContent:
    """The text from one top-level H1 or H2 to the next, or above the first, without its place.

    Its offsets count from its own start and its lines from 1. `level` is that of its heading, 0 above the
    first; `head_end` and `head_lines` are where the body begins; `strays` are the anchor comments that name
    no section. `kept` is where other rooms keep what they derived from it, by all else that went in.
    """

    text: str
    level: int
    headings: tuple[Heading, ...]
    anchor: Anchor | None
    head_end: int
    head_lines: int
    strays: tuple[Problem, ...]
    kept: dict[object, object] = field(default_factory=dict, compare=False, repr=False)

    @property
    def heading(self) -> Heading:
        """Its heading; the text above the first has none."""
        return self.headings[0]

    @property
    def name(self) -> str:
        """The section's name for callers: the anchor, as in `concerns v1`, else the words of the heading."""
        return str(self.anchor) if self.anchor else self.heading.text

    @computed
    def section_name(self) -> str:
        """The name if it is a section; text above the first section has none."""
        return self.name if self.level == SECTION_LEVEL else ""

    @property
    def closes_above(self) -> bool:
        """Whether it begins with a heading in `#` form in the first column, which closes all that is open."""
        return self.text[:1] == "#" and bool(self.level) and not self.heading.setext

    @computed
    def line_ends(self) -> int:
        """The number of its line ends."""
        return flat(self.text).count("\n")

    @computed
    def body(self) -> str:
        """The body with the blank lines around it."""
        return self.text[self.head_end :]

    @computed
    def head(self) -> str:
        """The lines of the heading and the anchor, without the last line end."""
        return self.text[: self.head_end].rstrip("\r\n")

    @computed
    def layout(self) -> Layout:
        """The words of the body, and the blank lines around them."""
        return layout_of(self.body)

    @computed
    def data(self) -> bytes:
        """The encoded text."""
        return encoded(self.text)

    @computed
    def is_plain(self) -> bool:
        """Whether its lines are as in the canonical form, without NUL and lone surrogates."""
        return plain_lines(self.text) == self.text == replace_surrogates(self.text) and "\0" not in self.text

    @computed
    def items(self) -> tuple[ListItem, ...]:
        """The items of the body's top-level lists, each with everything nested in it."""
        return find_items(self.body, self.head_end, self.head_lines + 1)

    @computed
    def hash(self) -> str:
        """The content hash of heading, anchor and body in canonical form."""
        return content_hash(self.text)


@dataclass(frozen=True)
class Section:
    """An H2 heading, the anchor on the line after it, and the body up to the next top-level H2 or H1.

    `content` is all of it without its place; it begins at `start`, on line `line`. `span` covers all three
    parts. `body_span` begins after the anchor's line, or after the heading's if there is no anchor, and
    includes the blank lines around the words; `body_line` is its first line.
    """

    content: SectionContent
    start: int
    line: int

    @property
    def name(self) -> str:
        """The section's name for callers: the anchor, as in `concerns v1`, else the words of the heading."""
        return self.content.name

    @property
    def text(self) -> str:
        """Heading, anchor and body."""
        return self.content.text

    @property
    def body(self) -> str:
        """The body with the blank lines around it."""
        return self.content.body

    @property
    def layout(self) -> Layout:
        """The words of the body, and the blank lines around them."""
        return self.content.layout

    @property
    def hash(self) -> str:
        """The content hash of heading, anchor and body in canonical form."""
        return self.content.hash

    @property
    def anchor(self) -> Anchor | None:
        """The section's anchor."""
        return self.content.anchor

    @computed
    def heading(self) -> Heading:
        """The section's heading."""
        return self.content.heading.moved(self.start, self.line - 1)

    @property
    def anchor_span(self) -> Span | None:
        """The line of the anchor."""
        return Span(self.heading.span.end, self.body_span.start) if self.anchor else None

    @property
    def span(self) -> Span:
        """Heading, anchor and body."""
        return Span(self.start, self.start + len(self.text))

    @property
    def body_span(self) -> Span:
        """The body with the blank lines around it."""
        return Span(self.start + self.content.head_end, self.start + len(self.text))

    @property
    def body_line(self) -> int:
        """The first line of the body."""
        return self.line + self.content.head_lines

    @computed
    def items(self) -> tuple[ListItem, ...]:
        """The items of the body's top-level lists, each with everything nested in it."""
        return tuple(
            replace(item, span=item.span.moved(self.start), line=item.line + self.line - 1)
            for item in self.content.items
        )


@dataclass(frozen=True)
class Document:
    """A parsed text. `problems` lists what is wrong with it; no tool edits a `malformed` document.

    `contents` is the text in pieces: the first is the text above the first H1 or H2, often with frontmatter.
    """

    frontmatter: Frontmatter | None
    contents: tuple[SectionContent, ...]
    problems: tuple[Problem, ...]

    @computed
    def text(self) -> str:
        """The text, as it was parsed."""
        return "".join(map(_TEXT, self.contents))

    @property
    def length(self) -> int:
        """The number of its characters."""
        return self.starts[-1]

    @computed
    def newline(self) -> str:
        """The line end that the text uses most."""
        return "\n" if self.is_plain else newline_of(self.text)

    @computed
    def starts(self) -> tuple[int, ...]:
        """The offset of each content, then the end of the text."""
        return tuple(accumulate(map(len, map(_TEXT, self.contents)), initial=0))

    @computed
    def lines(self) -> tuple[int, ...]:
        """The first line of each content."""
        return tuple(accumulate(map(_LINE_ENDS, self.contents[:-1]), initial=1))

    @computed
    def headings(self) -> tuple[Heading, ...]:
        """All top-level headings, of every level."""
        return tuple(
            heading.moved(start, line - 1)
            for content, start, line in self.places()
            for heading in content.headings
        )

    @computed
    def sections(self) -> tuple[Section, ...]:
        """The sections, in order; the text under an H1 is none."""
        return tuple(
            self.section(number)
            for number, content in enumerate(self.contents)
            if content.level == SECTION_LEVEL
        )

    def section(self, number: int) -> Section:
        """Return the section with the content of this number."""
        return Section(self.contents[number], self.starts[number], self.lines[number])

    @computed
    def numbers(self) -> dict[Anchor | None, int]:
        """The number of the last content with each anchor."""
        return dict(zip(map(_ANCHOR, self.contents), range(len(self.contents)), strict=True))

    def numbers_with(self, anchor: Anchor) -> list[int]:
        """List the numbers of the contents with an anchor."""
        if self.problems:
            return [number for number, content in enumerate(self.contents) if content.anchor == anchor]
        return [self.numbers[anchor]] if anchor in self.numbers else []

    def places(self) -> Iterator[tuple[SectionContent, int, int]]:
        """Yield each content with its offset and its first line."""
        return zip(self.contents, self.starts, self.lines, strict=False)

    def number_of(self, section: Section) -> int:
        """Return the number of a section's content."""
        return bisect_right(self.starts, section.start) - 1

    def changes_since(self, before: "Document") -> list[int] | None:
        """List the numbers of the contents that differ; None if there were more or fewer."""
        pairs = list(zip(before.contents, self.contents, strict=False))
        if not len(pairs) == len(before.contents) == len(self.contents):
            return None
        return [number for number, (old, new) in enumerate(pairs) if old is not new and old.text != new.text]

    @computed
    def title(self) -> str | None:
        """The words of the first H1."""
        return next((content.heading.text for content in self.contents if content.level == 1), None)

    @property
    def values(self) -> dict[str, object]:
        """The frontmatter's values; empty without frontmatter or if it is malformed."""
        return dict(self.frontmatter.values) if self.frontmatter else {}

    @computed
    def malformed(self) -> bool:
        """Whether the frontmatter leaves in doubt whose document this is."""
        return bool(self.problems) and any(problem.code in MALFORMED_CODES for problem in self.problems)

    @property
    def data(self) -> bytes:
        """The encoded text."""
        return b"".join(map(_DATA, self.contents))

    @computed
    def is_plain(self) -> bool:
        """Whether its lines are as in the canonical form, without NUL and lone surrogates."""
        return all(map(_IS_PLAIN, self.contents))

    @computed
    def raw_hash(self) -> str:
        """The hash of the encoded text."""
        return raw_hash(self.data)

    @computed
    def hash(self) -> str:
        """The content hash of the whole text in canonical form."""
        if not self.is_plain:
            return content_hash(self.text)
        end = self.contents[-1].text[-2:]
        # Most texts are in canonical form, and hashing a large one takes long.
        if end[1:] == "\n" and end[0] not in f"{TRAILING_SPACE}\n":
            return self.raw_hash
        return raw_hash(self.data.rstrip(f"{TRAILING_SPACE}\n".encode()) + b"\n")
