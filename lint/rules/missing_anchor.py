"""A section of the kind has its heading, but no anchor.

The kind declares the heading, the next line holds no anchor, and no other heading has the declared anchor.

## Why it matters

Tools find a section by its anchor. Without one the section can't be edited by name or followed through the
event log.

## Bad

```markdown
## Concerns

- Says yes before looking at the week
```

## Good

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

- Says yes before looking at the week
```

## How to fix it

Put the anchor back on the line after the heading, or restore an earlier version of the document. `fix`
doesn't add it: an anchor is identity, and a wrong guess would be worse than a missing one.
"""

from collections.abc import Iterator

from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import DocumentRule


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find declared headings without an anchor."""
    for place, content, facts in context.sections:
        declaration = facts.declared_heading
        # A rule of its own reports a misplaced anchor more precisely.
        if content.anchor or facts.has_stray_anchor:
            continue
        if declaration and declaration.anchor not in context.present_anchors:
            yield Hit(
                context.starts[place],
                f'"{declaration.heading}" has no anchor; its next line should be '
                f"<!-- @anchor: {declaration.anchor} -->.",
                str(declaration.anchor),
            )


RULE = DocumentRule("MG101", "missing-anchor", Severity.BLOCK, __doc__, check)
