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

from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: LintContext) -> Iterator[Hit]:
    """Find sections below one that should follow them."""
    places = {anchor: place for place, anchor in enumerate(context.declarations)}
    furthest, heading = -1, ""
    for section, declaration in context.declared_sections:
        place = places[declaration.anchor]
        if place < furthest:
            message = f'"{section.heading.text}" belongs above "{heading}".'
            yield Hit(section.span.start, message, str(declaration.anchor))
        elif place > furthest:
            furthest, heading = place, section.heading.text


RULE = Rule("MG403", "section-order", Severity.STYLE, __doc__, check)
