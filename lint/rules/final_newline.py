"""The last line doesn't end.

The text stops without a line end after its last line.

## Why it matters

Whatever is appended continues that line instead of beginning one, and diffs show it as changed.

## Bad

```markdown
It watches the clock.{EOF}
```

## Good

```markdown
It watches the clock.
```

## How to fix it

`fix` adds the line end that the document uses.
"""

from collections.abc import Iterator

from garden.grammar.values import Span
from garden.lint.context import Context
from garden.lint.finding import Hit, Replacement, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find a last line without a line end."""
    text = context.text
    if text and text[-1] not in "\r\n\ufeff":
        end = len(text)
        cure = Replacement(Span(end, end), context.document.newline)
        yield Hit(end, "The last line has no line end.", cures=(cure,))


RULE = Rule("MG602", "final-newline", Severity.STYLE, __doc__, check, fixable=True)
