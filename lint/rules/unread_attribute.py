"""An attribute of an item is not read, because it has another form or stands elsewhere.

A priority is `(priority: 80)`, from 0 to 100, at the end of the item's first line, where tags stand too. A
summary begins with its period and its type, as in `2026-W47 (weekly):`.

## Why it matters

Recall filters by priorities, tags and periods. What it can't read counts as words.

## Bad

```markdown
## Life Goals
<!-- @anchor: life_goals v1 -->

- Wants to sail the Baltic (priority: high)
```

## Good

```markdown
## Life Goals
<!-- @anchor: life_goals v1 -->

- Wants to sail the Baltic (priority: 80) #sailing
```

## How to fix it

Write it as above, or without the brackets if it is meant as words.
"""

from collections.abc import Iterator

from garden.grammar.attributes import misread_attributes
from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext

_SIGNS = frozenset(
    {r"\([ \t]*priority", r"\((?:conversation|daily|weekly|monthly|quarterly|yearly)[^()]*\):"}
)


def check(section: SectionContext) -> Iterator[Hit]:
    """Find malformed and misplaced attributes of items."""
    for item in section.content.items:
        if "(" in item.text and not section.is_logged(item.span.start):
            for message in misread_attributes(item.text):
                yield Hit(item.span.start, message, item.text)


RULE = SectionRule("MG505", "unread-attribute", Severity.STYLE, __doc__, check, signs=_SIGNS)
