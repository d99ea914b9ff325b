"""A section of the kind has the wrong anchor.

Either a declared heading has an anchor that the kind doesn't declare, or the anchors of two declared sections
are swapped.

## Why it matters

Events, hashes and history refer to the anchor. Under another heading they describe the wrong section.

## Bad

```markdown
## Needs
<!-- @anchor: concerns v1 -->

- A free evening that stays free
```

## Good

```markdown
## Needs
<!-- @anchor: needs v1 -->

- A free evening that stays free
```

## How to fix it

Give the heading its own anchor again, or restore an earlier version of the document.
"""

from collections.abc import Iterator

from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: LintContext) -> Iterator[Hit]:
    """Find declared headings with another section's anchor."""
    for section in context.document.sections:
        if section.anchor is None or section.anchor_span is None:
            continue
        declaration = context.declarations_by_heading.get(section.heading.text.casefold())
        # Another version of the right anchor means an older or newer document, not a damaged one.
        if declaration and section.anchor.id != declaration.anchor.id:
            own_is_elsewhere = declaration.anchor in context.present_anchors
            if section.anchor in context.declarations or not own_is_elsewhere:
                yield Hit(
                    section.anchor_span.start,
                    f'"{section.heading.text}" has the anchor {section.anchor}; its own is '
                    f"{declaration.anchor}.",
                    str(declaration.anchor),
                )


RULE = Rule("MG103", "altered-anchor", Severity.BLOCK, __doc__, check)
