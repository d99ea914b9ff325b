"""A heading skips a level.

An H3 directly below an H1, an H4 below an H2. Going back up any number of levels is fine.

## Why it matters

The outline of the document has a hole, which screen readers and outline views stumble over.

## Bad

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

#### At work

- Says yes before looking at the week
```

## Good

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

### At work

- Says yes before looking at the week
```

## How to fix it

Use the next level down. Which heading it belongs below is for the writer to say, so no tool does it.
"""

from collections.abc import Iterator

from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find headings more than one level below the one above."""
    above = 1
    for heading in context.document.headings:
        if heading.level > above + 1:
            message = f"This heading is of level {heading.level}, below one of level {above}."
            yield Hit(heading.span.start, message, heading.text)
        above = heading.level


RULE = Rule("MG404", "heading-jump", Severity.STYLE, __doc__, check)
