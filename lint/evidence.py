"""The evidence of a document: its items, and the tokens that say where they come from."""

import re
from collections.abc import Iterator

from garden.grammar.document import Section
from garden.grammar.values import ListItem
from garden.lint.context import Context

TOKEN = re.compile(r"\((ev:[^\s()]+)\)")


def evidence_items(context: Context) -> Iterator[tuple[Section, ListItem]]:
    """Go through the items of every section that the kind declares as evidence."""
    for section, declaration in context.declared:
        if declaration.role == "evidence":
            for item in section.items:
                yield section, item
