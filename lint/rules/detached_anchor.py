"""An anchor isn't on the line right after its heading.

The line after the heading holds no anchor; the first anchor comment is further down in the section.

## Why it matters

An anchor counts only on the line after an H2 heading. Anywhere else it is an ordinary comment, and the
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

Move the comment up to the line after the heading. No tool moves an anchor on its own.
"""

from collections.abc import Iterator

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext
from garden.lint.stray_anchors import AnchorFault


def check(section: SectionContext) -> Iterator[Hit]:
    """Find anchors that other lines separate from their heading."""
    for stray in section.strays:
        if stray.fault is AnchorFault.DETACHED:
            yield Hit(
                stray.offset,
                f"The anchor {stray.name} isn't on the line right after its heading.",
                stray.name,
            )


RULE = SectionRule("MG104", "detached-anchor", Severity.BLOCK, __doc__, check)
