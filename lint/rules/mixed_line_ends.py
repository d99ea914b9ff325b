"""The document mixes different line ends.

Some end in a line feed (LF, as on Linux and macOS), some in carriage return and line feed (CRLF, as on
Windows), or in a lone carriage return (CR).

## Why it matters

Diffs show identical lines as changed, and a patch made on one machine doesn't apply on another.

## Bad

```markdown
It watches the clock.{U+000D}
It means well.
```

## Good

```markdown
It watches the clock.
It means well.
```

## How to fix it

`fix` gives every line the line end that the document uses most, also in frontmatter and code: Markdown and
YAML treat all line ends alike, so no content changes.
"""

import re
from collections.abc import Iterator

from garden.grammar.values import Span
from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity, TextReplacement
from garden.lint.rule import Rule

_LINE_END = re.compile(r"\r\n|\r|\n")
_NAMES = {"\r\n": "CRLF", "\n": "LF", "\r": "CR"}


def check(context: LintContext) -> Iterator[Hit]:
    """Find the line ends that differ from the usual one."""
    if "\r" not in context.text:
        return
    usual = context.document.newline
    odd = [match for match in _LINE_END.finditer(context.text) if match[0] != usual]
    if odd:
        message = (
            f"{len(odd)} lines end in {' or '.join(sorted({_NAMES[match[0]] for match in odd}))}, "
            f"the others in {_NAMES[usual]}."
        )
        fixes = tuple(TextReplacement(Span(*match.span()), usual) for match in odd)
        yield Hit(odd[0].start(), message, section="", fixes=fixes)


RULE = Rule("MG601", "mixed-line-ends", Severity.STYLE, __doc__, check, fixable=True)
