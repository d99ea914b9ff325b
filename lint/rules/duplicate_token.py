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

from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import DocumentRule


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find tokens that an earlier item already has."""
    tokens = [(place, *each) for place, _, facts in context.sections for each in facts.tokens]
    if len({token for _, token, _, _ in tokens}) == len(tokens):
        return
    first: dict[str, int] = {}
    for place, token, offset, item_line in tokens:
        line = context.document.lines[place] + item_line - 1
        earlier = first.setdefault(token, line)
        if earlier != line:
            message = f"The item on line {earlier} already has the token ({token})."
            yield Hit(context.starts[place] + offset, message, token)


RULE = DocumentRule("MG503", "duplicate-token", Severity.STYLE, __doc__, check)
