"""A section of the kind bears an anchor that isn't its own.

Either a heading that the kind declares has an anchor that the kind doesn't know, or two sections got each
other's anchors: a declared anchor stands under the heading of another declared section.

## Why it matters

The anchor is what events, hashes and history hang on. Under another heading it tells another section's
story.

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

Give the heading its own anchor again, or restore the document from its history.
"""

from collections.abc import Iterator

from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find declared headings whose anchor names something else."""
    for section in context.document.sections:
        if section.anchor is None or section.anchor_span is None:
            continue
        declaration = context.canon_by_heading.get(section.heading.text.casefold())
        # Another version of the right anchor is an older or a newer document, not a damaged one.
        if declaration and section.anchor.id != declaration.anchor.id:
            own_is_elsewhere = declaration.anchor in context.present
            if section.anchor in context.canon or not own_is_elsewhere:
                yield Hit(
                    section.anchor_span.start,
                    f'"{section.heading.text}" bears the anchor {section.anchor}; its own is '
                    f"{declaration.anchor}.",
                    str(declaration.anchor),
                )


RULE = Rule("MG103", "altered-anchor", Severity.BLOCK, __doc__, check)
