"""An anchor isn't on the line right after its heading.

The section has no anchor where it belongs, and the first anchor comment below stands further down.

## Why it matters

An anchor counts only on the line after an H2 heading. Anywhere else it is a comment like any other, and the
section has no identity.

## Bad

```markdown
## Concerns

<!-- @anchor: concerns v1 -->

- Says yes before looking at the week
```

## Good

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

- Says yes before looking at the week
```

## How to fix it

Move the comment up to the line after the heading. No tool moves an anchor by itself.
"""

from collections.abc import Iterator

from garden.lint.anchors import Fault
from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find anchors that other lines part from their heading."""
    for stray in context.strays:
        if stray.fault is Fault.DETACHED:
            yield Hit(
                stray.offset,
                f"The anchor {stray.name} isn't on the line right after its heading.",
                stray.name,
            )


RULE = Rule("MG104", "detached-anchor", Severity.BLOCK, __doc__, check)
