"""A line contains a tab.

Code, HTML blocks and frontmatter are not checked, nor is white space at the end of a line, which has a rule
of its own.

## Why it matters

The width of a tab depends on the program, and before a list item it decides what is nested in what.

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

`fix` replaces tabs in indentation and after a list marker by as many spaces as Markdown takes them for. It
keeps a tab between words, which may be meant as a table or belong to a code span, and does not change the
Change Log.
"""

import re
from collections.abc import Iterator

from garden.grammar.values import Span
from garden.lint.finding import Hit, Severity, TextReplacement
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext

_LINE_WITH_TAB = re.compile(r"^[^\t\n]*+\t[^\n]*", re.MULTILINE)
_INDENTATION = re.compile(r"(?:[ \t>]++|(?:[-+*]|[0-9]{1,9}[.)])[ \t]++)*+")


def check(section: SectionContext) -> Iterator[Hit]:
    """Find tabs in indentation, which are fixable, and between words."""
    for match in _LINE_WITH_TAB.finditer(section.flat, section.markdown_start):
        if not section.is_verbatim(match.start()):
            yield from _hits(section, match.start(), match[0].rstrip(" \t"))


def _hits(section: SectionContext, start: int, line: str) -> Iterator[Hit]:
    match = _INDENTATION.match(line)
    indentation = match[0] if match else ""
    if "\t" in indentation:
        fix = TextReplacement(Span(start, start + len(indentation)), indentation.expandtabs(4))
        fixes = () if section.is_logged(start) else (fix,)
        yield Hit(start + indentation.index("\t"), "Tab in the indentation.", line, fixes=fixes)
    between = line.find("\t", len(indentation))
    if between >= 0:
        yield Hit(start + between, "Tab between words.", line)


RULE = SectionRule(
    "MG604", "tab-character", Severity.STYLE, __doc__, check, fixable=True, signs=frozenset({"\\t"})
)
