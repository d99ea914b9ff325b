"""Sections are not in the order that their kind declares.

Every section below one that should follow it is reported.

## Why it matters

The same order makes it easy to compare profiles with each other and across versions.

## Bad

```markdown
## Needs
<!-- @anchor: needs v1 -->

- A free evening that stays free

## Concerns
<!-- @anchor: concerns v1 -->

- Says yes before looking at the week
```

## Good

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

- Says yes before looking at the week

## Needs
<!-- @anchor: needs v1 -->

- A free evening that stays free
```

## How to fix it

Move the whole section, with heading and anchor, to its place.
"""

from collections.abc import Iterator

from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import DocumentRule


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find sections below one that should follow them."""
    furthest, heading = -1, ""
    for place, content, declaration in context.declared_sections:
        order = context.declarations.places[declaration.anchor]
        if order < furthest:
            message = f'"{content.headings[0].text}" belongs above "{heading}".'
            yield Hit(context.starts[place], message, str(declaration.anchor))
        elif order > furthest:
            furthest, heading = order, content.headings[0].text


RULE = DocumentRule("MG403", "section-order", Severity.STYLE, __doc__, check)
