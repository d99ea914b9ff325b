"""Text looks like a secret.

Private keys, keys and tokens of well-known services, signed web tokens, passwords in addresses, and long
values named password, key or token. Code and frontmatter are searched too.

A request that brings a private key or a well-known token is refused before anything is stored, unless the
setting `secrets` is `warn`. The finding is for text from elsewhere, and for values that may be secrets.

## Why it matters

Agents read the garden, and its text is kept in history and in the event log. A secret in it is exposed for
good.

## Bad

```markdown
- The key for the calendar is {secret}
```

## Good

```markdown
- The key for the calendar is in the password manager
```

## How to fix it

Remove it, and change the secret where it is used, because this copy has been recorded. The finding never
repeats the secret.
"""

from collections.abc import Iterator

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.secrets import SIGNS, secrets_in
from garden.lint.section_context import SectionContext


def check(section: SectionContext) -> Iterator[Hit]:
    """Find text that looks like a secret; overlapping matches count once."""
    end = 0
    for secret in sorted(secrets_in(section.text, section.signs)):
        if secret.start >= end:
            yield Hit(secret.start, f"This looks like {secret.what}.", secret.what)
            end = secret.end


RULE = SectionRule("MG701", "secret", Severity.STYLE, __doc__, check, signs=SIGNS)
