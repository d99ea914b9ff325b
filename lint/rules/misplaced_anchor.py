"""An anchor stands where no heading can own it.

A well-formed anchor comment above the first H2, under an H1 or H3, or in a section that has an anchor
already.

## Why it matters

Somebody's section lost its heading, or an anchor was pasted along with a text. Both mean that what the
anchor names isn't where it says.

## Bad

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

- Says yes before looking at the week

<!-- @anchor: needs v1 -->

- A free evening that stays free
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

Put the missing heading back above the anchor, or take the stray comment out.
"""

from collections.abc import Iterator

from garden.lint.anchors import Fault
from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find well-formed anchors that belong to no section."""
    for stray in context.strays:
        if stray.fault is Fault.MISPLACED:
            yield Hit(
                stray.offset, f"The anchor {stray.name} stands under no heading of its own.", stray.name
            )


RULE = Rule("MG105", "misplaced-anchor", Severity.BLOCK, __doc__, check)
