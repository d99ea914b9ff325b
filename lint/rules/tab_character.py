"""A line holds a tab.

Code, HTML blocks and frontmatter aren't looked at, nor is white space that ends a line: that has a rule of
its own.

## Why it matters

How far a tab reaches depends on who shows it. In front of a list item it decides what belongs to what.

## Bad

```markdown
- Says yes before looking at the week
{U+0009}- above all to people it admires
```

## Good

```markdown
- Says yes before looking at the week
    - above all to people it admires
```

## How to fix it

`fix` writes indentation, and the gap after a list marker, with as many spaces as Markdown reads the tab
for. A tab between words is left to the writer: it may have been meant as a table, or be part of a code
span. The words of the Change Log stay as they were written.
"""

import re
from collections.abc import Iterator

from garden.grammar.values import Span
from garden.lint.context import Context
from garden.lint.finding import Hit, Replacement, Severity
from garden.lint.rule import Rule

_LINE_WITH_TAB = re.compile(r"^[^\t\n]*+\t[^\n]*", re.MULTILINE)
_INDENTATION = re.compile(r"(?:[ \t>]++|(?:[-+*]|[0-9]{1,9}[.)])[ \t]++)*+")


def check(context: Context) -> Iterator[Hit]:
    """Find tabs in indentation, which can be mended, and between words."""
    if "\t" not in context.text:
        return
    for match in _LINE_WITH_TAB.finditer(context.flat, context.body_start):
        if not context.is_verbatim(match.start()):
            yield from _hits(context, match.start(), match[0].rstrip(" \t"))


def _hits(context: Context, start: int, line: str) -> Iterator[Hit]:
    match = _INDENTATION.match(line)
    indentation = match[0] if match else ""
    if "\t" in indentation:
        cure = Replacement(Span(start, start + len(indentation)), indentation.expandtabs(4))
        cures = () if context.is_logged(start) else (cure,)
        yield Hit(start + indentation.index("\t"), "A tab in the indentation.", line, cures=cures)
    between = line.find("\t", len(indentation))
    if between >= 0:
        yield Hit(start + between, "A tab between words.", line)


RULE = Rule("MG604", "tab-character", Severity.STYLE, __doc__, check, fixable=True)
