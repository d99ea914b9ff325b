"""A section is longer than its cap.

The kind declares the cap: 400 words for narrative sections, every word counted. Any other section but a log
may have 400 words of prose: list items and code don't count there. A kind may declare another cap for it
(`cap_words`).

Text between spaces is a word if it holds a letter or a digit. In Chinese and Japanese two characters count as
a word, in Thai, Lao, Burmese and Khmer five do, because these scripts put no spaces between words.

## Why it matters

The summary of a profile is read first, before a conversation. Longer than a page, it is no summary. Prose
that is too long for the summary is no shorter under another heading.

## Bad

A summary of more than 400 words:

```markdown
## Summary
<!-- @anchor: summary v1 -->

{words:401}
```

## Good

```markdown
## Summary
<!-- @anchor: summary v1 -->

This part watches the clock, and has lately begun to let go for an evening at a time.
```

## How to fix it

Shorten it, or move details into the lists they belong to. If it must be longer, give the reason in one line
as `overrideRationale`; it is needed only if the edit newly or further exceeds the cap.
"""

from collections.abc import Iterator

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext
from garden.lint.word_limits import count_if_long


def check(section: SectionContext) -> Iterator[Hit]:
    """Find sections over their word cap."""
    count, _, cap = count_if_long(section)
    if cap is not None and count > cap:
        message = f"{section.content.heading.text} has {count} words; the cap is {cap}."
        yield Hit(0, message, amount=count)


RULE = SectionRule("MG302", "too-many-words", Severity.CAP, __doc__, check)
