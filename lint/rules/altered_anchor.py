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

from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import DocumentRule


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find declared headings with another section's anchor."""
    for place, content, facts in context.sections:
        anchor, declaration = content.anchor, facts.declared_heading
        if anchor is None or declaration is None:
            continue
        own_is_elsewhere = declaration.anchor in context.present_anchors
        # Another version of the right anchor means an older or newer document, not a damaged one.
        if (facts.declaration or not own_is_elsewhere) and anchor.id != declaration.anchor.id:
            yield Hit(
                context.starts[place] + content.heading.span.end,
                f'"{content.heading.text}" has the anchor {anchor}; its own is {declaration.anchor}.',
                str(declaration.anchor),
            )


RULE = DocumentRule("MG103", "altered-anchor", Severity.BLOCK, __doc__, check)
