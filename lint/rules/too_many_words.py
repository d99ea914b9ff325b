"""A section is longer than its kind allows.

The cap is part of the kind's declaration: 400 words for narrative sections. A word is whatever stands
between spaces and holds a letter or a digit. In Chinese and Japanese two characters count as a word, in
Thai, Lao, Burmese and Khmer five do, since these scripts put no spaces between words.

## Why it matters

Whoever reads a profile before a conversation reads its summary first. Past a page it is no summary.

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

Say it in fewer words, or move details into the lists they belong to. Where it has to be longer, say why in
one line with `overrideRationale`; it is asked for only when the section is newly or further over its cap.
"""

from collections.abc import Iterator

from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule
from garden.lint.words import count_words, may_exceed


def check(context: Context) -> Iterator[Hit]:
    """Find sections over their cap of words."""
    for section, declaration in context.declared:
        cap = declaration.cap_words
        if cap is not None and may_exceed(section.body, cap):
            count = count_words(section.body)
            if count > cap:
                message = f"{section.heading.text} has {count} words; the cap is {cap}."
                yield Hit(section.span.start, message, amount=count)


RULE = Rule("MG302", "too-many-words", Severity.CAP, __doc__, check)
