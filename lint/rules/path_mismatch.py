"""Path and frontmatter disagree about whose document this is.

The caller says what the path means: the user's id, and the id of the part or the relationship.

## Why it matters

One of the two is wrong, most likely because a file was copied to a new place. An edit would then be
recorded under the wrong person or part.

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

Move the file back to where it belongs, or plant a new document and bring the words over.
"""

from collections.abc import Iterator

from garden.lint.context import Context
from garden.lint.finding import Hit, Severity
from garden.lint.frontmatter_place import place_of
from garden.lint.rule import Rule


def check(context: Context) -> Iterator[Hit]:
    """Find keys of identity that say something else than the path."""
    for key, wanted in context.identity.items():
        given = context.values.get(key)
        if given is not None and given != wanted:
            yield Hit(place_of(context, key), f"{key} is {given!r} here, but {wanted!r} by the path.", key)


RULE = Rule("MG203", "path-mismatch", Severity.BLOCK, __doc__, check)
