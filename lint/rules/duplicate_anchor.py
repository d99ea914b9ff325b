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

from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import DocumentRule


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find anchors that an earlier heading already has."""
    if "anchor_duplicate" not in [problem.code for problem in context.document.problems]:
        return
    first: dict[str, int] = {}
    for content, start, line in context.document.places():
        anchor = str(content.anchor)
        if content.anchor and first.setdefault(anchor, line) != line:
            message = f"The heading on line {first[anchor]} already has the anchor {anchor}."
            yield Hit(start + content.heading.span.end, message, anchor)


RULE = DocumentRule("MG102", "duplicate-anchor", Severity.BLOCK, __doc__, check)
