"""The line after a heading holds a malformed anchor.

The form is `<!-- @anchor: name v1 -->`: a name of letters, digits, `_` and `-`, then `v` and a number, and
nothing else on the line.

## Why it matters

Tools don't guess: the section counts as having no anchor.

## Bad

```markdown
## Concerns
<!-- @anchor concerns -->

- Says yes before looking at the week
```

## Good

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

- Says yes before looking at the week
```

## How to fix it

Write the anchor in its full form. No tool changes an anchor on its own.
"""

from collections.abc import Iterator

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext
from garden.lint.stray_anchors import AnchorFault


def check(section: SectionContext) -> Iterator[Hit]:
    """Find malformed anchors on the line after a heading."""
    for stray in section.strays:
        if stray.fault is AnchorFault.MALFORMED:
            yield Hit(stray.offset, "This anchor is malformed; the form is <!-- @anchor: name v1 -->.")


RULE = SectionRule("MG106", "malformed-anchor", Severity.BLOCK, __doc__, check)
