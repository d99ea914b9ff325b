"""Two pieces of evidence have the same token.

Every item with the token except the first is reported.

## Why it matters

Tools name an item by its token, so a duplicate is ambiguous. Often the same moment was noted twice.

## Bad

```markdown
## Evidence
<!-- @anchor: evidence v1 -->

- "I can't relax until it's done" (ev:s12-m40)
- "Not until everything is done" (ev:s12-m40)
```

## Good

```markdown
## Evidence
<!-- @anchor: evidence v1 -->

- "I can't relax until it's done" (ev:s12-m40)
- "If I stop, everything falls on the others" (ev:s13-m02)
```

## How to fix it

Merge the two items with `md.curate_list`, or correct one of the tokens.
"""

from collections.abc import Iterator

from garden.lint.context import LintContext
from garden.lint.evidence import TOKEN, evidence_items
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: LintContext) -> Iterator[Hit]:
    """Find tokens that an earlier item already has."""
    first: dict[str, int] = {}
    for _, item in evidence_items(context):
        for token in TOKEN.findall(item.text):
            line = first.setdefault(token, item.line)
            if line != item.line:
                yield Hit(item.span.start, f"The item on line {line} already has the token ({token}).", token)


RULE = Rule("MG503", "duplicate-token", Severity.STYLE, __doc__, check)
