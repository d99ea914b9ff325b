"""The frontmatter lacks a key that says whose document this is.

Which keys a document needs is part of its kind: `id`, `user_id` and `schema`, and `participants` on the
profile of a relationship.

## Why it matters

The path and the frontmatter vouch for each other. A document that doesn't say whose it is could be
anybody's, once it has been copied or moved.

## Bad

```markdown
---
id: anxious-achiever
---

# Anxious Achiever
```

## Good

```markdown
---
id: anxious-achiever
user_id: sample-user
schema: 1
---

# Anxious Achiever
```

## How to fix it

Add the missing keys, with the ids that the path has. Tools don't edit identity; a person
does.
"""

from collections.abc import Iterator

from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find identity keys of the kind that aren't there."""
    # Of malformed frontmatter nobody can tell what it lacks.
    if context.kind is None or context.document.malformed:
        return
    missing = [key for key in context.kind.identity if context.values.get(key) is None]
    if missing and context.document.frontmatter is None:
        yield Hit(0, f"There is no frontmatter; it should give {', '.join(missing)}.", "frontmatter")
        return
    for key in missing:
        yield Hit(0, f"The frontmatter doesn't give {key}.", key)


RULE = Rule("MG201", "missing-identity", Severity.BLOCK, __doc__, check)
