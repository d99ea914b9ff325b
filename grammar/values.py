"""The small values a parsed document is made of.

All offsets count characters (code points) of the text that was parsed, never bytes; line numbers start at 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Span(NamedTuple):
    """A half-open stretch of the text: `text[start:end]`, counted in characters."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Cut this stretch out of a text."""
        return text[self.start : self.end]


class Anchor(NamedTuple):
    """A section's identity, as in `<!-- @anchor: concerns v1 -->`."""

    id: str
    version: int

    def __str__(self) -> str:
        return f"{self.id} v{self.version}"


@dataclass(frozen=True, slots=True)
class Heading:
    """A top-level heading: `span` covers all of its lines with the last line end, `line` is the first."""

    level: int
    text: str
    span: Span
    line: int
    setext: bool = False


@dataclass(frozen=True, slots=True)
class ListItem:
    """A top-level list item with everything nested in it.

    `span` covers its whole lines, marker and last line end included; `text` is the content without the marker
    and without the indentation that only makes it part of the item.
    """

    span: Span
    marker: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a text that a reader should know: a stable code, a sentence, and where."""

    code: str
    message: str
    span: Span
    line: int


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The block of YAML between two `---` lines at the very top.

    `raw` is the YAML alone, `span` covers both fence lines. `values` is read-only and empty where `faults`
    (sentences) say that the YAML can't be trusted.
    """

    raw: str
    span: Span
    values: Mapping[str, object]
    faults: tuple[str, ...] = ()
