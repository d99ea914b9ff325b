"""The frontmatter lacks an identity key.

The kind declares the required keys: `id`, `user_id` and `schema`, and for the profile of a relationship also
`participants`.

## Why it matters

The path and the frontmatter confirm each other. Once copied or moved, a document without identity can't be
attributed.

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

Add the missing keys, with the ids from the path. Tools don't edit identity; a person does.
"""

from collections.abc import Iterator

from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import DocumentRule


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find missing identity keys."""
    # The keys of malformed frontmatter are unknown.
    if context.kind is None or context.document.malformed:
        return
    missing = [key for key in context.kind.identity if context.values.get(key) is None]
    if missing and context.document.frontmatter is None:
        yield Hit(0, f"The frontmatter is missing; it needs {', '.join(missing)}.", "frontmatter")
        return
    for key in missing:
        yield Hit(0, f"The frontmatter lacks {key}.", key)


RULE = DocumentRule("MG201", "missing-identity", Severity.BLOCK, __doc__, check)
