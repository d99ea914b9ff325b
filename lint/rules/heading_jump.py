"""A heading skips a level.

For example an H3 directly below an H1, or an H4 below an H2. Going back up any number of levels is fine.

## Why it matters

The outline has a gap, which confuses screen readers and outline views.

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

Use the next level down. Only the writer knows where the heading belongs, so `fix` doesn't change it.
"""

from collections.abc import Iterator

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext


def check(section: SectionContext) -> Iterator[Hit]:
    """Find headings more than one level below the previous one."""
    above = 1
    for heading in section.content.headings:
        if heading.level > above + 1:
            message = f"This heading has level {heading.level}, below one of level {above}."
            yield Hit(heading.span.start, message, heading.text)
        above = heading.level


RULE = SectionRule("MG404", "heading-jump", Severity.STYLE, __doc__, check)
