"""A list has more items than its kind allows.

The items of the section's top-level lists count; nested items do not. The kind declares the cap: seven for
the evidence of a profile.

## Why it matters

A profile holds the essentials, not everything that was said. Readers skip a list that only grows.

## Bad

```markdown
## Evidence
<!-- @anchor: evidence v1 -->

- "One" (ev:s1-m1)
- "Two" (ev:s1-m2)
- "Three" (ev:s1-m3)
- "Four" (ev:s1-m4)
- "Five" (ev:s1-m5)
- "Six" (ev:s1-m6)
- "Seven" (ev:s1-m7)
- "Eight" (ev:s1-m8)
```

## Good

```markdown
## Evidence
<!-- @anchor: evidence v1 -->

- "I can't relax until it's done" (ev:s12-m40)
- "If I stop, everything falls on the others" (ev:s13-m02)
```

## How to fix it

Prune or merge items with `md.curate_list`. If the list must be longer, give the reason in one line as
`overrideRationale`; it is needed only if the edit newly or further exceeds the cap.
"""

from collections.abc import Iterator

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext


def check(section: SectionContext) -> Iterator[Hit]:
    """Find lists over their cap."""
    cap = section.declaration.cap_items if section.declaration else None
    if cap is not None and len(section.content.items) > cap:
        count = len(section.content.items)
        message = f"{section.content.heading.text} has {count} items; the cap is {cap}."
        yield Hit(0, message, amount=count)


RULE = SectionRule("MG301", "too-many-items", Severity.CAP, __doc__, check)
