"""A section is getting long.

It is longer than its kind recommends, 200 words for narrative sections, and not yet over its cap. Any other
section but a log may have 200 words of prose: list items and code don't count there.

## Why it matters

Shortening a text now is easier than justifying an override later.

## Bad

A summary of more than 200 words:

```markdown
## Summary
<!-- @anchor: summary v1 -->

{words:201}
```

## Good

```markdown
## Summary
<!-- @anchor: summary v1 -->

This part watches the clock, and has lately begun to let go for an evening at a time.
```

## How to fix it

Shorten it, or move details into the lists they belong to.
"""

from collections.abc import Iterator

from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule
from garden.lint.word_limits import long_sections


def check(context: LintContext) -> Iterator[Hit]:
    """Find sections that are long, but within their cap."""
    for section, count, note, cap in long_sections(context):
        if note is not None and count > note and (cap is None or count <= cap):
            message = f"{section.heading.text} has {count} words; {note} or fewer are recommended."
            yield Hit(section.span.start, message, amount=count)


RULE = Rule("MG303", "many-words", Severity.STYLE, __doc__, check)
