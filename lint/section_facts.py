"""What document rules need to know of a section, worked out once and kept with its content."""

from dataclasses import dataclass

from garden.grammar.kinds.declaration import SectionKind
from garden.lint.section_context import EVIDENCE_TOKEN, SectionContext
from garden.lint.stray_anchors import AnchorFault, StrayAnchor


@dataclass(frozen=True, slots=True)
class SectionFacts:
    """A section that document rules look at.

    `declaration` has its anchor, `declared_heading` its heading; in a section as declared both are the same.
    `tokens` are the tokens of evidence, each with the offset and the line of its item.
    """

    declaration: SectionKind | None
    declared_heading: SectionKind | None
    is_empty: bool
    strays: tuple[StrayAnchor, ...]
    tokens: tuple[tuple[str, int, int], ...]

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
    heading, is_empty, is_foreign = None, False, False
    if section.name is not None:
        heading = section.declarations.by_heading.get(content.heading.text.casefold())
        is_empty = not content.body.strip()
        is_foreign = content.anchor is None and kind is not None and not kind.further_sections
    if not (declaration or heading or is_empty or is_foreign or section.strays):
        return None
    tokens = [
        (token, item.span.start, item.line)
        for item in section.evidence
        for token in EVIDENCE_TOKEN.findall(item.text)
    ]
    return SectionFacts(declaration, heading, is_empty, section.strays, tuple(tokens))
