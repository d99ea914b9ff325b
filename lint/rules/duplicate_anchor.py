"""More than one heading has the same anchor.

Every heading with the anchor except the first is reported.

## Why it matters

A duplicate anchor is ambiguous: an edit could apply to either section, so tools refuse both.

## Bad

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

- Says yes before looking at the week

## Concerns
<!-- @anchor: concerns v1 -->

- Reads silence as criticism
```

## Good

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

- Says yes before looking at the week
- Reads silence as criticism
```

## How to fix it

Combine the words under one heading and remove the other section, or restore an earlier version of the
document.
"""

from collections.abc import Iterator

from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: LintContext) -> Iterator[Hit]:
    """Find anchors that an earlier heading already has."""
    first: dict[object, int] = {}
    for section in context.document.sections:
        if section.anchor and section.anchor_span:
            line = first.setdefault(section.anchor, section.line)
            if line != section.line:
                yield Hit(
                    section.anchor_span.start,
                    f"The heading on line {line} already has the anchor {section.anchor}.",
                    str(section.anchor),
                )


RULE = Rule("MG102", "duplicate-anchor", Severity.BLOCK, __doc__, check)
