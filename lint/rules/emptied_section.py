"""A section that had content is now empty.

Checked only if the document before the edit is known. A section that was always empty is fine.

## Why it matters

Removing content is allowed and recorded, but an emptied section is usually an accident.

## Bad

If the section had words before:

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

```

## Good

```markdown
## Concerns
<!-- @anchor: concerns v1 -->

- Says yes before looking at the week
```

## How to fix it

If it was an accident, restore the words from an earlier version. If not, leave it: the finding disappears
with the next edit.
"""

from collections.abc import Iterator

from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: LintContext) -> Iterator[Hit]:
    """Find sections that lost all their words."""
    if context.previous is None:
        return
    had_words = {section.name for section in context.previous.sections if section.body.strip()}
    for section in context.document.sections:
        if section.name in had_words and not section.body.strip():
            yield Hit(section.span.start, f"{section.heading.text} had content and is now empty.")


RULE = Rule("MG405", "emptied-section", Severity.STYLE, __doc__, check)
