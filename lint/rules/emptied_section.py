"""A section is empty that had content before.

Asked only where the document before the edit is known. A section that was empty all along is fine.

## Why it matters

Forgetting is allowed, and recorded; but an emptied section is more often an accident than a decision.

## Bad

Where the section held words before:

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

If it wasn't meant, restore the words from the history. If it was, leave it: the finding goes with the next
edit.
"""

from collections.abc import Iterator

from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find sections that lost all their words."""
    if context.previous is None:
        return
    had_words = {section.name for section in context.previous.sections if section.body.strip()}
    for section in context.document.sections:
        if section.name in had_words and not section.body.strip():
            yield Hit(section.span.start, f"{section.heading.text} had content and is empty now.")


RULE = Rule("MG405", "emptied-section", Severity.STYLE, __doc__, check)
