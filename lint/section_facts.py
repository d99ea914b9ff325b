"""What document rules need to know of a section, worked out once and kept with its content."""

from dataclasses import dataclass
from typing import NamedTuple

from garden.grammar.kinds.declaration import SectionKind
from garden.grammar.values import Anchor
from garden.lint.section_context import EVIDENCE_TOKEN, SectionContext
from garden.lint.stray_anchors import AnchorFault, StrayAnchor


class EvidenceToken(NamedTuple):
    """A token in an item of evidence, and where the item is in its section."""

    token: str
    offset: int
    line: int


@dataclass(frozen=True, slots=True)
class SectionFacts:
    """A section that document rules look at.

    `declaration` has its anchor, `declared_heading` its heading; in a section as declared both are the same.
    `heading_end` is where its anchor would be. Text that is in no section has no name.
    """

    name: str | None
    heading: str
    heading_end: int
    anchor: Anchor | None
    declaration: SectionKind | None
    declared_heading: SectionKind | None
    is_empty: bool
    strays: tuple[StrayAnchor, ...]
    tokens: tuple[EvidenceToken, ...]

    @property
    def has_stray_anchor(self) -> bool:
        """Whether its own anchor is on another line or malformed."""
        return any(stray.fault in (AnchorFault.DETACHED, AnchorFault.MALFORMED) for stray in self.strays)


def facts_of(section: SectionContext) -> SectionFacts | None:
    """Return the facts of a section, None if no document rule needs to look at it.

    That is a section without an anchor in a kind that is closed, one whose anchor or heading is declared, one
    without words, or one with a stray anchor.
    """
    content, declaration, kind = section.content, section.declaration, section.declarations.kind
    if section.name is None:
        return (
            SectionFacts(None, "", 0, None, None, None, False, section.strays, ()) if section.strays else None
        )
    heading = content.heading
    declared_heading = section.declarations.by_heading.get(heading.text.casefold())
    is_empty = not content.body.strip()
    is_foreign = content.anchor is None and kind is not None and not kind.further_sections
    if not (declaration or declared_heading or is_empty or is_foreign or section.strays):
        return None
    tokens = [
        EvidenceToken(token, item.span.start, item.line)
        for item in section.evidence
        for token in EVIDENCE_TOKEN.findall(item.text)
    ]
    return SectionFacts(
        section.name,
        heading.text,
        heading.span.end,
        content.anchor,
        declaration,
        declared_heading,
        is_empty,
        section.strays,
        tuple(tokens),
    )
