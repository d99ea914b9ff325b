"""Two pieces of evidence bear the same token.

Every item after the first one with a token is reported.

## Why it matters

The token is also how tools name an item. Found twice it names neither, and often the same moment was noted
twice.

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
- "If I stop, everything falls on somebody else" (ev:s13-m02)
```

## How to fix it

Merge the two items with `md.curate_list`, or correct the token of one.
"""

from collections.abc import Iterator

from garden.lint.context import Context
from garden.lint.evidence import TOKEN, evidence_items
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find tokens that an earlier item bears already."""
    first: dict[str, int] = {}
    for _, item in evidence_items(context):
        for token in TOKEN.findall(item.text):
            line = first.setdefault(token, item.line)
            if line != item.line:
                yield Hit(
                    item.span.start, f"The item on line {line} bears the token ({token}) already.", token
                )


RULE = Rule("MG503", "duplicate-token", Severity.STYLE, __doc__, check)
