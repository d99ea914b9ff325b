"""The context of a section rule: one section, and results that rules share."""

import re
from bisect import bisect_right
from functools import cached_property

from garden.grammar.body import layout_of
from garden.grammar.change_log import USUAL_ANCHOR_ID
from garden.grammar.document import SECTION_LEVEL, SectionContent
from garden.grammar.lines import flat
from garden.grammar.values import ListItem, Span
from garden.lint.declarations import Declarations
from garden.lint.stray_anchors import StrayAnchor, stray_anchors
from garden.lint.verbatim_blocks import Verbatim, verbatim_blocks

EVIDENCE_TOKEN = re.compile(r"\((ev:[^\s()]+)\)")


class SectionContext:
    r"""A section and its kind, without its place: what rules find is the same wherever the section stands.

    The text above the first heading, with the frontmatter, and the text under an H1 count as sections too.
    Offsets count from its start. `below` is the underlined heading that follows, empty if another does, None
    at the end of the document. `signs` are the signs of rules in it, `evidence` its items if declared
    as evidence. `flat` has `\n` for every line end.
    """

    def __init__(
        self, content: SectionContent, declarations: Declarations, below: str | None, signs: frozenset[str]
    ) -> None:
        self.content = content
        self.declarations = declarations
        self.below = below
        self.signs = signs
        self.text = content.text
        self.flat = flat(content.text)
        self.declaration = declarations.by_anchor.get(content.anchor) if content.anchor else None
        is_evidence = self.declaration and self.declaration.role == "evidence"
        self.evidence: tuple[ListItem, ...] = content.items if is_evidence else ()
        self.name = content.name if content.level == SECTION_LEVEL else None
        self.markdown_start = 0 if content.level else content.head_end
        # Every anchor line has an `@`, so a section with none but that has no stray anchor.
        is_plain = content.text.count("@") == (content.anchor is not None)
        self.strays: tuple[StrayAnchor, ...] = (
            () if is_plain else tuple(stray_anchors(content, self.flat, self.is_code))
        )

    def line_at(self, offset: int) -> str:
        """Return the line that holds an offset, without white space around it."""
        start = self.flat.rfind("\n", 0, offset) + 1
        end = self.flat.find("\n", offset)
        return self.text[start : end if end >= 0 else None].strip(" \t\r\n\ufeff")

    @cached_property
    def verbatim(self) -> tuple[Verbatim, ...]:
        """The blocks below the frontmatter that hold code or HTML."""
        return verbatim_blocks(self.flat, self.markdown_start)

    @cached_property
    def _logged_words(self) -> Span:
        """Where the words of a Change Log are; an empty span in any other section."""
        anchor, kind = self.content.anchor, self.declarations.kind
        usual = kind is None and anchor is not None and anchor.id == USUAL_ANCHOR_ID
        if not usual and not (self.declaration and self.declaration.is_change_log):
            return Span(0, 0)
        layout = layout_of(self.content.body)
        start = self.content.head_end + len(layout.lead)
        return Span(start, start + len(layout.words))

    def is_logged(self, offset: int) -> bool:
        """Whether an offset is in the words of a Change Log, which no fix may change."""
        return self._logged_words.start <= offset < self._logged_words.end

    def is_code(self, offset: int) -> bool:
        """Whether an offset is in fenced or indented code."""
        block = self._block_at(offset)
        return block is not None and block.is_code

    def is_verbatim(self, offset: int) -> bool:
        """Whether white space at an offset may be content: in frontmatter, code or HTML."""
        return offset < self.markdown_start or self._block_at(offset) is not None

    def _block_at(self, offset: int) -> Verbatim | None:
        index = bisect_right(self.verbatim, offset, key=lambda block: block.span.start) - 1
        block = self.verbatim[index] if index >= 0 else None
        return block if block and offset < block.span.end else None
