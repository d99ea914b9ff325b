"""A piece of evidence quotes too much.

The limit is 40 words between quotation marks, or in the whole item if it has none.

## Why it matters

Evidence points to a moment; the token leads to the rest.

## Bad

```markdown
## Evidence
<!-- @anchor: evidence v1 -->

- "{words:41}" (ev:s12-m40)
```

## Good

```markdown
## Evidence
<!-- @anchor: evidence v1 -->

- "I can't relax until it's done" (ev:s12-m40)
```

## How to fix it

Keep the essential sentence; the token leads to the rest.
"""

import re
from collections.abc import Iterator

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import EVIDENCE_TOKEN, SectionContext
from garden.lint.word_count import count_words, may_exceed

MAX_QUOTE_WORDS = 40

# A quote ends at the next opening mark, so that unclosed ones don't make the search slow.
_QUOTED = re.compile('"([^"]*)"|“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»|「([^「」]*)」|『([^『』]*)』')


def check(section: SectionContext) -> Iterator[Hit]:
    """Find evidence with a quote that is too long."""
    for item in section.evidence:
        if may_exceed(item.text, MAX_QUOTE_WORDS):
            words = max(count_words(quote) for quote in _quotes(item.text))
            if words > MAX_QUOTE_WORDS:
                message = f"This quote has {words} words; the limit is {MAX_QUOTE_WORDS}."
                yield Hit(item.span.start, message, item.text, amount=words)


def _quotes(text: str) -> list[str]:
    quotes = ["".join(match.groups("")) for match in _QUOTED.finditer(text)]
    return quotes or [EVIDENCE_TOKEN.sub("", text)]


RULE = SectionRule("MG502", "long-quote", Severity.STYLE, __doc__, check)
