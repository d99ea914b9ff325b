"""An anchor stands under more than one heading.

Every heading after the first one that bears the same anchor is reported.

## Why it matters

An anchor that is found twice names nothing: an edit could land in either section, so tools refuse both.

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

Bring the words together under one of the headings and take the other section out, or restore the document
from its history.
"""

from collections.abc import Iterator

from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find anchors that an earlier heading bears already."""
    first: dict[object, int] = {}
    for section in context.document.sections:
        if section.anchor and section.anchor_span:
            line = first.setdefault(section.anchor, section.line)
            if line != section.line:
                yield Hit(
                    section.anchor_span.start,
                    f"The anchor {section.anchor} stands under the heading on line {line} already.",
                    str(section.anchor),
                )


RULE = Rule("MG102", "duplicate-anchor", Severity.BLOCK, __doc__, check)
