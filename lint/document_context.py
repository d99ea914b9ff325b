"""The context of a document rule: the document, and those of its sections that such rules look at."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from garden.grammar.document import Document
from garden.grammar.lines import flat
from garden.lint.declarations import Declarations
from garden.lint.section_facts import SectionFacts

NOTHING: Mapping[str, object] = MappingProxyType({})


class DocumentContext:
    """A document, its kind, the identity given by its path, and its previous version.

    `sections` are those with facts, each with its place among the contents and `starts` of the document.
    `present_anchors` are the declared anchors that it has.
    """

    def __init__(
        self,
        document: Document,
        declarations: Declarations,
        identity: Mapping[str, object],
        previous: Document | None,
        facts: Iterable[SectionFacts | None],
    ) -> None:
        self.document = document
        self.declarations = declarations
        self.kind = declarations.kind
        self.identity = identity
        self.previous = previous
        self.values = document.values
        self.starts = document.starts
        self.sections = [
            (place, content, each)
            for place, (content, each) in enumerate(zip(document.contents, facts, strict=True))
            if each
        ]
        self.declared_sections = [
            (place, content, each.declaration) for place, content, each in self.sections if each.declaration
        ]
        self.present_anchors = {declaration.anchor for _, _, declaration in self.declared_sections}

    def key_offset(self, key: str) -> int:
        """Return the offset of a frontmatter key, or where the frontmatter begins if the key is not found."""
        frontmatter = self.document.frontmatter
        if frontmatter is None:
            return 0
        line = re.compile(rf"""^["']?{re.escape(key)}["']?[ \t]*:""", re.MULTILINE)
        match = line.search(flat(self.document.text[: frontmatter.span.end]), frontmatter.span.start)
        return match.start() if match else frontmatter.span.start
