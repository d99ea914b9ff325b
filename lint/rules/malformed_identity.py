"""The frontmatter is malformed, or an identity key has an invalid value.

The block must be plain YAML that every reader understands the same way. `id` and `user_id` have at most 64
lower-case letters, digits, `_` and `-`, beginning with a letter or digit; `schema` is a whole number from 1;
`participants` is a list of part ids or names.

## Why it matters

If readers can disagree about whose document this is, no tool edits it.

## Bad

```markdown
---
id: Anxious Achiever
user_id: sample-user
schema: one
---
```

## Good

```markdown
---
id: anxious-achiever
user_id: sample-user
schema: 1
---
```

## How to fix it

Write the key plainly, with the id from the path. Remove aliases, tags, tabs, duplicate keys and a second
block of frontmatter.
"""

import re
from collections.abc import Callable, Iterator

from garden.grammar.document import MALFORMED_CODES
from garden.lint.document_context import DocumentContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import DocumentRule

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def check(context: DocumentContext) -> Iterator[Hit]:
    """Find faults of the frontmatter as a whole, else of its identity keys."""
    for problem in context.document.problems:
        if problem.code in MALFORMED_CODES:
            yield Hit(problem.span.start, problem.message, problem.code)
    for key, value in [(key, value) for key, value in context.values.items() if key in _FORMS]:
        is_valid, form = _FORMS[key]
        # A key without a value counts as missing.
        if value is not None and not is_valid(value):
            yield Hit(context.key_offset(key), f"{key} must be {form}.", key)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_version(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_list_of_names(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) > 0
        and all(isinstance(name, str) and name.strip() for name in value)
    )


_ID_FORM = "lower-case letters, digits, _ and -, at most 64, beginning with a letter or digit"
_FORMS: dict[str, tuple[Callable[[object], bool], str]] = {
    "id": (_is_id, _ID_FORM),
    "user_id": (_is_id, _ID_FORM),
    "schema": (_is_version, "a whole number from 1"),
    "participants": (_is_list_of_names, "a list of part ids or names"),
}

RULE = DocumentRule("MG202", "malformed-identity", Severity.BLOCK, __doc__, check)
