"""A piece of evidence doesn't name its source.

Every item of an evidence section needs a token such as `(ev:s12-m40)`: session 12, message 40.

## Why it matters

A quote without a source can't be checked. The token leads to the message and its context.

## Bad

```markdown
## Evidence
<!-- @anchor: evidence v1 -->

- "I can't relax until it's done"
```

## Good

```markdown
## Evidence
<!-- @anchor: evidence v1 -->

- "I can't relax until it's done" (ev:s12-m40)
```

## How to fix it

Add the token of the message it was taken from, or prune the item if its source is unknown.
"""

from collections.abc import Iterator

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import EVIDENCE_TOKEN, SectionContext


def check(section: SectionContext) -> Iterator[Hit]:
    """Find evidence without a token."""
    for item in section.evidence:
        if not EVIDENCE_TOKEN.search(item.text):
            message = "This piece of evidence has no token such as (ev:s12-m40)."
            yield Hit(item.span.start, message, item.text)


RULE = SectionRule("MG501", "evidence-without-token", Severity.STYLE, __doc__, check)
