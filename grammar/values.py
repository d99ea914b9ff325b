"""The small values that make up a parsed document.

All offsets count characters (code points) of the text that was parsed, never bytes; line numbers start at 1.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

_PUNCTUATION = re.compile(r"[\W_]+")


class Span(NamedTuple):
    """A half-open range of the text: `text[start:end]`, in characters."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return this part of a text."""
        return text[self.start : self.end]

    def moved(self, characters: int) -> "Span":
        """Return the range so many characters further down."""
        return Span(self.start + characters, self.end + characters)


class Anchor(NamedTuple):
    """A section's identity, as in `<!-- @anchor: concerns v1 -->`."""

    id: str
    version: int

    def __str__(self) -> str:
        return f"{self.id} v{self.version}"


@dataclass(frozen=True, slots=True)
class Heading:
    """A top-level heading; `span` covers its lines with the last line end, `line` is the first."""

    level: int
    text: str
    span: Span
    line: int
    setext: bool = False

    @property
    def words(self) -> str:
        """The heading's words for comparison, without punctuation or case."""
        return _PUNCTUATION.sub(" ", self.text).strip().casefold() or self.text

    def moved(self, characters: int, lines: int) -> "Heading":
        """Return the heading so many characters and lines further down."""
        return Heading(self.level, self.text, self.span.moved(characters), self.line + lines, self.setext)


@dataclass(frozen=True, slots=True)
class ListItem:
    """A top-level list item with everything nested in it.

    `span` covers its whole lines, with marker and last line end; `text` is the content without the marker and
    without the indentation below it.
    """

    span: Span
    marker: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a text: a stable code, a sentence and the place."""

    code: str
    message: str
    span: Span
    line: int


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The block of YAML between two `---` lines at the very top.

    `raw` is the YAML alone, `span` includes both fence lines. `values` is read-only, and empty if `faults`
    lists reasons not to trust the YAML.
    """

    raw: str
    span: Span
    values: Mapping[str, object]
    faults: tuple[str, ...] = ()
