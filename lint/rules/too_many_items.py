"""A list holds more items than its kind allows.

Counted are the items of the section's top-level lists; what is nested in an item belongs to it. The cap is
part of the kind's declaration: seven for the evidence of a profile.

## Why it matters

A profile is what is worth knowing, not all that was said. A list that only grows stops being read.

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
- "If I stop, everything falls on somebody else" (ev:s13-m02)
```

## How to fix it

Prune or merge items with `md.curate_list`. Where the list has to be longer, say why in one line with
`overrideRationale`; it is asked for only when the list is newly or further over its cap.
"""

from collections.abc import Iterator

from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find lists over their cap."""
    for section, declaration in context.declared:
        cap = declaration.cap_items
        if cap is not None and len(section.items) > cap:
            count = len(section.items)
            message = f"{section.heading.text} holds {count} items; the cap is {cap}."
            yield Hit(section.span.start, message, amount=count)


RULE = Rule("MG301", "too-many-items", Severity.CAP, __doc__, check)
