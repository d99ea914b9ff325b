"""Path and frontmatter disagree about whose document this is.

The path gives the user's id and the id of the part or the relationship.

## Why it matters

One of the two is wrong, most likely because a file was copied. An edit would be recorded for the wrong person
or part.

## Bad

At `users/sample-user/parts/inner-critic/profile.md`:

```markdown
---
id: anxious-achiever
user_id: sample-user
schema: 1
---
```

## Good

```markdown
---
id: inner-critic
user_id: sample-user
schema: 1
---
```

## How to fix it

Move the file back to its place, or create a new document with `md.plant` and copy the words.
"""

from collections.abc import Iterator

from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import DocumentRule


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find identity keys that contradict the path."""
    for key, wanted in context.identity.items():
        given = context.values.get(key)
        if given is not None and given != wanted:
            yield Hit(context.key_offset(key), f"{key} is {given!r} here, but {wanted!r} in the path.", key)


RULE = DocumentRule("MG203", "path-mismatch", Severity.BLOCK, __doc__, check)
