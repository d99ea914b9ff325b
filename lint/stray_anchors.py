"""Stray anchors: anchor comments that belong to no section, classified by fault."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from garden.grammar.document import Document, Section

_WELL_FORMED = re.compile(
    r" {0,3}<!--[ \t]*@anchor:[ \t]*([A-Za-z0-9][A-Za-z0-9_-]*)[ \t]+v([0-9]{1,9})[ \t]*-->[ \t]*"
)
_COMMENT_LINE = re.compile(r" {0,3}<!--[ \t]*@anchor\b", re.IGNORECASE)
_MENTION = re.compile(r"(?:<|&lt;)!--\s*@anchor\b|@anchor:[ \t]*[\w-]+[ \t]+v[0-9]", re.IGNORECASE)


class AnchorFault(Enum):
    """What is wrong with an anchor comment."""

    DETACHED = "well-formed, but other lines separate it from its heading"
    MISPLACED = "well-formed, but under no heading that could own it"
    MALFORMED = "on the right line, but malformed"
    FORGED = "quoted, in code, inside other text, or otherwise an imitation"


@dataclass(frozen=True, slots=True)
class StrayAnchor:
    """An anchor comment that no section owns; `name` is its anchor, or empty if malformed."""

    fault: AnchorFault
    name: str
    offset: int
    section: Section | None


def stray_anchors(
    document: Document, flat_text: str, is_code: Callable[[int], bool]
) -> tuple[StrayAnchor, ...]:
    """Find every mention of an anchor below the frontmatter that no section owns."""
    owned = [section.anchor_span for section in document.sections if section.anchor_span]
    # Every owned anchor line has at least one `@`, so equal counts mean that there are no others.
    if flat_text.count("@") == len(owned):
        return ()
    return tuple(_Search(document, flat_text, is_code).run())


class _Search:
    """One pass over the mentions in a text; `is_code` is called only for strays."""

    def __init__(self, document: Document, flat_text: str, is_code: Callable[[int], bool]) -> None:
        self.flat = flat_text
        self.is_code = is_code
        self.start = document.frontmatter.span.end if document.frontmatter else 0
        self.sections = document.sections
        self.section_starts = [section.span.start for section in document.sections]
        self.owned = {section.anchor_span.start for section in document.sections if section.anchor_span}
        self.attached: set[int] = set()

    def run(self) -> Iterator[StrayAnchor]:
        for mention in _MENTION.finditer(self.flat, self.start):
            line_start = self.flat.rfind("\n", 0, mention.start()) + 1
            if line_start not in self.owned:
                yield self._stray(mention.start(), line_start)

    def _stray(self, offset: int, line_start: int) -> StrayAnchor:
        line_end = self.flat.find("\n", line_start)
        line = self.flat[line_start : line_end if line_end >= 0 else None]
        section = self._section_at(line_start)
        match = _WELL_FORMED.fullmatch(line)
        fault = self._fault(offset, line_start, line, section, well_formed=match is not None)
        return StrayAnchor(fault, f"{match[1]} v{int(match[2])}" if match else "", offset, section)

    def _fault(
        self, offset: int, line_start: int, line: str, section: Section | None, *, well_formed: bool
    ) -> AnchorFault:
        if self.is_code(offset):
            return AnchorFault.FORGED
        if well_formed:
            return self._fault_of_place(section)
        on_its_line = section is not None and line_start == section.heading.span.end
        return AnchorFault.MALFORMED if on_its_line and _COMMENT_LINE.match(line) else AnchorFault.FORGED

    def _fault_of_place(self, section: Section | None) -> AnchorFault:
        """Classify by place: only the first anchor in a section without one can be its own."""
        if section is None or section.anchor or section.span.start in self.attached:
            return AnchorFault.MISPLACED
        self.attached.add(section.span.start)
        return AnchorFault.DETACHED

    def _section_at(self, offset: int) -> Section | None:
        index = bisect_right(self.section_starts, offset) - 1
        section = self.sections[index] if index >= 0 else None
        return section if section and offset < section.span.end else None
