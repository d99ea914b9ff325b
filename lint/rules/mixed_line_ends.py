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
from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity, TextReplacement
from garden.lint.rule import DocumentRule

_ODD_ENDS = {
    "\r\n": re.compile(r"(?<!\r)\n|\r(?!\n)"),
    "\n": re.compile(r"\r\n?"),
    "\r": re.compile(r"\r?\n"),
}
_NAMES = {"\r\n": "CRLF", "\n": "LF", "\r": "CR"}


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find the line ends that differ from the usual one."""
    text, usual = context.document.text, context.document.newline
    first = _ODD_ENDS[usual].search(text) if "\r" in text else None
    if first:
        odd = _ODD_ENDS[usual].findall(text)
        names = " or ".join(sorted(_NAMES[end] for end in set(odd)))
        message = f"{len(odd)} lines end in {names}, the others in {_NAMES[usual]}."
        # Made when they are read: there can be as many as lines.
        fixes = (TextReplacement(Span(*match.span()), usual) for match in _ODD_ENDS[usual].finditer(text))
        yield Hit(first.start(), message, section="", fixes=fixes)


RULE = DocumentRule("MG601", "mixed-line-ends", Severity.STYLE, __doc__, check, fixable=True)
