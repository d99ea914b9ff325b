"""A piece of evidence quotes too much.

Counted are the words between quotation marks, or of the whole item where there are none; 40 are enough.

## Why it matters

Evidence points at a moment, it doesn't retell it. The token leads to the rest.

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

Keep the sentence that says it, and leave the rest where the token points.
"""

import re
from collections.abc import Iterator

from garden.lint.context import Context
from garden.lint.evidence import TOKEN, evidence_items
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule
from garden.lint.words import count_words, may_exceed

MAX_QUOTE_WORDS = 40

# No quote goes past another opening mark, so that open ones don't make the search slow.
_QUOTED = re.compile('"([^"]*)"|“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»|「([^「」]*)」|『([^『』]*)』')


def check(context: Context) -> Iterator[Hit]:
    """Find evidence with a quote that is too long."""
    for _, item in evidence_items(context):
        if may_exceed(item.text, MAX_QUOTE_WORDS):
            words = max(count_words(quote) for quote in _quotes(item.text))
            if words > MAX_QUOTE_WORDS:
                message = f"This quote has {words} words; {MAX_QUOTE_WORDS} are enough."
                yield Hit(item.span.start, message, item.text, amount=words)


def _quotes(text: str) -> list[str]:
    quotes = ["".join(match.groups("")) for match in _QUOTED.finditer(text)]
    return quotes or [TOKEN.sub("", text)]


RULE = Rule("MG502", "long-quote", Severity.STYLE, __doc__, check)
