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

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext
from garden.lint.word_limits import count_if_long


def check(section: SectionContext) -> Iterator[Hit]:
    """Find sections that are long, but within their cap."""
    count, note, cap = count_if_long(section)
    if note is not None and count > note and (cap is None or count <= cap):
        message = f"{section.content.heading.text} has {count} words; {note} or fewer are recommended."
        yield Hit(0, message, amount=count)


RULE = SectionRule("MG303", "many-words", Severity.STYLE, __doc__, check)
