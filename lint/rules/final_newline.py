"""The last line has no line end.

The text stops without a line end.

## Why it matters

Appended text continues that line instead of beginning a new one, and diffs show the line as changed.

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
from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity, TextReplacement
from garden.lint.rule import DocumentRule


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find a last line without a line end."""
    text = context.document.text
    if text and text[-1] not in "\r\n\ufeff":
        end = len(text)
        fix = TextReplacement(Span(end, end), context.document.newline)
        yield Hit(end, "The last line has no line end.", fixes=(fix,))


RULE = DocumentRule("MG602", "final-newline", Severity.STYLE, __doc__, check, fixable=True)
