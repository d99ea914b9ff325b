"""The evidence of a document: its items and the tokens that name their source."""

import re
from collections.abc import Iterator

from garden.grammar.document import Section
from garden.grammar.values import ListItem
from garden.lint.context import LintContext

TOKEN = re.compile(r"\((ev:[^\s()]+)\)")


def evidence_items(context: LintContext) -> Iterator[tuple[Section, ListItem]]:
    """Yield the items of every section that the kind declares as evidence."""
    for section, declaration in context.declared_sections:
        if declaration.role == "evidence":
            for item in section.items:
                yield section, item
