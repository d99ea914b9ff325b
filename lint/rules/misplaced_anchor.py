"""An anchor is in a place where no heading can own it.

A well-formed anchor comment is above the first H2, under an H1 or H3, or in a section that already has an
anchor.

## Why it matters

Either a section lost its heading, or an anchor was pasted along with a text. In both cases the anchor doesn't
name the section around it.

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

Put the missing heading back above the anchor, or remove the stray comment.
"""

from collections.abc import Iterator

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext
from garden.lint.stray_anchors import AnchorFault


def check(section: SectionContext) -> Iterator[Hit]:
    """Find well-formed anchors that belong to no section."""
    for stray in section.strays:
        if stray.fault is AnchorFault.MISPLACED:
            yield Hit(stray.offset, f"The anchor {stray.name} is under no heading of its own.", stray.name)


RULE = SectionRule("MG105", "misplaced-anchor", Severity.BLOCK, __doc__, check)
