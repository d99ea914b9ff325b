"""The line after a heading holds an anchor that can't be read.

It has to read `<!-- @anchor: name v1 -->`: a name of letters, digits, `_` and `-`, then `v` and a number,
and nothing else on the line.

## Why it matters

What can't be read for certain isn't guessed at: the section counts as having no anchor.

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

Write the anchor in its full form. No tool changes an anchor by itself.
"""

from collections.abc import Iterator

from garden.lint.anchors import Fault
from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find anchors on their right line in a wrong form."""
    for stray in context.strays:
        if stray.fault is Fault.MALFORMED:
            yield Hit(stray.offset, "This anchor can't be read; it should be like <!-- @anchor: name v1 -->.")


RULE = Rule("MG106", "malformed-anchor", Severity.BLOCK, __doc__, check)
