"""The context of a lint run: a document, what is known about it, and results that rules share."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from garden.grammar.blocks import line_starts
from garden.grammar.body import layout_of
from garden.grammar.change_log import change_logs
from garden.grammar.document import Document, Section
from garden.grammar.kinds.declaration import Kind, SectionKind
from garden.grammar.lines import flat
from garden.grammar.values import Anchor, Span
from garden.lint.stray_anchors import AnchorFault, StrayAnchor, stray_anchors
from garden.lint.verbatim_blocks import Verbatim, verbatim_blocks

NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True)
class LintContext:
    """A document, its kind, the identity given by its path, and its previous version."""

    document: Document
    kind: Kind | None = None
    identity: Mapping[str, object] = field(default_factory=lambda: NOTHING)
    previous: Document | None = None

    @cached_property
    def text(self) -> str:
        """The text of the document."""
        return self.document.text

    @cached_property
    def flat(self) -> str:
        r"""The text with `\n` for every line end, offsets unchanged."""
        return flat(self.text)

    @cached_property
    def is_printable(self) -> bool:
        """Whether the text holds only printable characters and line feeds."""
        return self.text.replace("\n", "").isprintable()

    @cached_property
    def is_latin(self) -> bool:
        """Whether every character is in Latin-1."""
        try:
            self.text.encode("latin-1")
        except UnicodeEncodeError:
            return False
        return True

    @cached_property
    def body_start(self) -> int:
        """The offset of the text below the frontmatter."""
        frontmatter = self.document.frontmatter
        if frontmatter:
            return frontmatter.span.end
        return 1 if self.text.startswith("\ufeff") else 0

    @cached_property
    def values(self) -> dict[str, object]:
        """The values of the frontmatter."""
        return self.document.values

    def key_offset(self, key: str) -> int:
        """Return the offset of a frontmatter key, or where the frontmatter begins if the key is not found."""
        frontmatter = self.document.frontmatter
        if frontmatter is None:
            return 0
        line = re.compile(rf"""^["']?{re.escape(key)}["']?[ \t]*:""", re.MULTILINE)
        match = line.search(self.flat, *frontmatter.span)
        return match.start() if match else frontmatter.span.start

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of each line."""
        return line_starts(self.flat)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset, both counted from 1."""
        line = bisect_right(self.line_starts, min(offset, max(len(self.text) - 1, 0)))
        return line, offset - self.line_starts[line - 1] + 1

    def line_at(self, offset: int) -> str:
        """Return the line that holds an offset, without white space around it."""
        line = self.position(offset)[0]
        starts = self.line_starts
        return self.text[starts[line - 1] : starts[line] if line < len(starts) else None].strip(
            " \t\r\n\ufeff"
        )

    @cached_property
    def _section_starts(self) -> list[int]:
        return [section.span.start for section in self.document.sections]

    def section_at(self, offset: int) -> Section | None:
        """Return the section that holds an offset."""
        index = bisect_right(self._section_starts, offset) - 1
        section = self.document.sections[index] if index >= 0 else None
        inside = section and (offset < section.span.end or section.span.end == len(self.text))
        return section if inside else None

    @cached_property
    def declarations(self) -> Mapping[Anchor, SectionKind]:
        """The sections that the kind declares, by anchor."""
        return {section.anchor: section for section in self.kind.sections} if self.kind else {}

    @cached_property
    def declarations_by_heading(self) -> Mapping[str, SectionKind]:
        """The sections that the kind declares, by case-folded heading."""
        return {section.heading.casefold(): section for section in self.declarations.values()}

    @cached_property
    def heading_counts(self) -> Counter[str]:
        """How many sections have each heading."""
        return Counter(section.heading.text for section in self.document.sections)

    @cached_property
    def declared_sections(self) -> tuple[tuple[Section, SectionKind], ...]:
        """The document's sections with a declared anchor, with their declarations."""
        found = (
            (section, self.declarations.get(section.anchor))
            for section in self.document.sections
            if section.anchor
        )
        return tuple((section, declaration) for section, declaration in found if declaration)

    @cached_property
    def present_anchors(self) -> frozenset[Anchor]:
        """The anchors of all sections."""
        return frozenset(section.anchor for section in self.document.sections if section.anchor)

    @cached_property
    def strays(self) -> tuple[StrayAnchor, ...]:
        """The anchor comments that belong to no section."""
        return stray_anchors(self.document, self.flat, self.is_code)

    @cached_property
    def sections_with_stray(self) -> frozenset[int]:
        """Offsets of the sections whose anchor is on another line or malformed."""
        faults = (AnchorFault.DETACHED, AnchorFault.MALFORMED)
        owners = (stray.section for stray in self.strays if stray.fault in faults)
        return frozenset(section.span.start for section in owners if section)

    @cached_property
    def verbatim(self) -> tuple[Verbatim, ...]:
        """The blocks below the frontmatter that hold code or HTML."""
        return verbatim_blocks(self.flat, self.body_start)

    @cached_property
    def _logged_words(self) -> Mapping[int, Span]:
        """The span of the words of each Change Log, by the section's offset."""
        return {log.span.start: _words_span(log) for log in change_logs(self.document, self.kind)}

    def is_logged(self, offset: int) -> bool:
        """Whether an offset is in the words of a Change Log, which no fix may change."""
        section = self.section_at(offset)
        words = self._logged_words.get(section.span.start) if section else None
        return words is not None and words.start <= offset < words.end

    def is_code(self, offset: int) -> bool:
        """Whether an offset is in fenced or indented code."""
        block = self._block_at(offset)
        return block is not None and block.is_code

    def is_verbatim(self, offset: int) -> bool:
        """Whether white space at an offset may be content: in frontmatter, code or HTML."""
        return offset < self.body_start or self._block_at(offset) is not None

    def _block_at(self, offset: int) -> Verbatim | None:
        index = bisect_right(self.verbatim, offset, key=lambda block: block.span.start) - 1
        block = self.verbatim[index] if index >= 0 else None
        return block if block and offset < block.span.end else None


def _words_span(section: Section) -> Span:
    layout = layout_of(section.body)
    start = section.body_span.start + len(layout.lead)
    return Span(start, start + len(layout.words))
