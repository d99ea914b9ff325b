"""More than one blank line in a row, or a blank line at the end of the document.

Code, HTML blocks and frontmatter are not checked, nor are the lines below a list item without words, where a
blank line decides what belongs to the item.

## Why it matters

To Markdown, one blank line means the same as ten. Extra ones accumulate when texts are pasted together, and
each one shows up in a diff.

## Bad

```markdown
It watches the clock.


It means well.
```

## Good

```markdown
It watches the clock.

It means well.
```

## How to fix it

`fix` keeps the first blank line of a row and none at the end of the document. It does not change the Change
Log.
"""

import re
from collections.abc import Iterator

from garden.grammar.values import Span
from garden.lint.finding import Hit, Severity, TextReplacement
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext

_ROW = re.compile(r"\n[ \t]*+\n((?:[ \t]*+\n)++)")
_EMPTY_ITEM = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])(?:[ \t]+(?:[-+*]|[0-9]{1,9}[.)]))*")
_ROW_AT_START = re.compile(r"[ \t]*+\n((?:[ \t]*+\n)++)")


def check(section: SectionContext) -> Iterator[Hit]:
    """Find superfluous blank lines."""
    for extra in _extra_blank_lines(section):
        if not section.is_verbatim(extra.start):
            # The line above identifies the place, because blank lines all look alike.
            above = section.line_at(max(_kept(section, extra.start) - 1, 0))
            if not _EMPTY_ITEM.fullmatch(above):
                fixes = () if section.is_logged(extra.start) else (TextReplacement(extra, ""),)
                yield Hit(extra.start, "Superfluous blank line.", above, fixes=fixes)


def _kept(section: SectionContext, end: int) -> int:
    return len(section.flat[max(end - 1000, 0) : end].rstrip(" \t\n")) + max(end - 1000, 0)


def _extra_blank_lines(section: SectionContext) -> Iterator[Span]:
    flat, start = section.flat, section.markdown_start
    is_last = section.below is None
    words_end = max(len(flat.rstrip(" \t\n")), start) if is_last else len(flat)
    # With at most a byte order mark above it, this is the first line.
    is_first = not section.content.level and start <= 1
    at_start = _ROW_AT_START.match(flat, start, words_end) if is_first else None
    if at_start:
        yield Span(*at_start.span(1))
        start = at_start.end()
    for row in _ROW.finditer(flat, max(start - 1, 0), words_end):
        yield Span(*row.span(1))
    end_of_last_line = flat.find("\n", words_end) + 1
    if is_last and 0 < end_of_last_line < len(flat) and "\n" in flat[end_of_last_line:]:
        yield Span(end_of_last_line, len(flat))


RULE = SectionRule("MG605", "blank-lines", Severity.STYLE, __doc__, check, fixable=True)
