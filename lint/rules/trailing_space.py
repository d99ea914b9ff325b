"""A line ends in white space.

Two or more spaces at the end of a line within a paragraph are allowed: Markdown reads them as a hard line
break. Code, HTML blocks and frontmatter are not checked, because white space may be content there, nor are
lines between two backticks of a paragraph, which may be a code span.

## Why it matters

It is invisible, editors treat it differently, and it clutters diffs.

## Bad

```markdown
It watches the clock.{U+0020}
It means well.
```

## Good

```markdown
It watches the clock.
It means well.
```

## How to fix it

`fix` removes it.
"""

import re
from collections.abc import Iterator

from garden.grammar.values import Span
from garden.lint.finding import Hit, Severity, TextReplacement
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext

_AT_LINE_END = re.compile(r"(?<![ \t])[ \t]++(?=[\r\n]|\Z)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_WORDS_FOLLOW = re.compile(r"(?:\r\n|\r|\n)[ \t]*+[^ \t\r\n]")
_BLANK_LINE = re.compile(r"(?:\r\n|\r|\n)[ \t]*+(?:\r\n|\r|\n)")
_NEAR = 1000
_SIGNS = frozenset({r"[ \t](?:[\r\n]|\z)"})


def check(section: SectionContext) -> Iterator[Hit]:
    """Find white space at line ends that has no meaning."""
    text = section.text
    for match in _AT_LINE_END.finditer(text, section.markdown_start):
        if not _has_meaning(section, match) and not section.is_verbatim(match.start()):
            fix = TextReplacement(Span(*match.span()), "")
            yield Hit(
                match.start(),
                "White space at the end of the line.",
                section.line_at(match.start()),
                fixes=(fix,),
            )


def _has_meaning(section: SectionContext, match: re.Match[str]) -> bool:
    text, start = section.text, match.start()
    if start == 0 or text[start - 1] in "\r\n":
        return False
    # Without the space behind it, a backslash would become a line break.
    if text[start - 1] == "\\":
        return True
    is_last_line = _LINE_END.fullmatch(text, match.end()) and section.below is not None
    continues = is_last_line or _WORDS_FOLLOW.match(text, match.end())
    return bool(continues) and (match[0].endswith("  ") or _may_be_in_code_span(text, match))


def _may_be_in_code_span(text: str, match: re.Match[str]) -> bool:
    before = text[max(match.start() - _NEAR, 0) : match.start()]
    after = text[match.end() : match.end() + _NEAR]
    return "`" in _BLANK_LINE.split(before)[-1] and "`" in _BLANK_LINE.split(after, maxsplit=1)[0]


RULE = SectionRule("MG603", "trailing-space", Severity.STYLE, __doc__, check, fixable=True, signs=_SIGNS)
