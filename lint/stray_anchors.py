"""Stray anchors: anchor comments that belong to no section, classified by fault."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from garden.grammar.document import SECTION_LEVEL, SectionContent

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


def stray_anchors(
    content: SectionContent, flat_text: str, is_code: Callable[[int], bool]
) -> Iterator[StrayAnchor]:
    """Find every mention of an anchor below the frontmatter that the section does not own."""
    is_section = content.level == SECTION_LEVEL
    own_line = content.heading.span.end if is_section else -1
    # Only the first anchor in a section without one can be its own.
    has_anchor = content.anchor is not None or not is_section
    for mention in _MENTION.finditer(flat_text, 0 if content.level else content.head_end):
        line_start = flat_text.rfind("\n", 0, mention.start()) + 1
        if line_start == own_line and content.anchor:
            continue
        line_end = flat_text.find("\n", line_start)
        line = flat_text[line_start : line_end if line_end >= 0 else None]
        match = _WELL_FORMED.fullmatch(line)
        if is_code(mention.start()):
            fault = AnchorFault.FORGED
        elif match:
            fault = AnchorFault.MISPLACED if has_anchor else AnchorFault.DETACHED
            has_anchor = True
        elif line_start == own_line and _COMMENT_LINE.match(line):
            fault = AnchorFault.MALFORMED
        else:
            fault = AnchorFault.FORGED
        yield StrayAnchor(fault, f"{match[1]} v{int(match[2])}" if match else "", mention.start())
