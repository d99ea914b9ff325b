"""The text contains a control character.

Control characters are NUL, escape, form feed and all others below U+0020 except tab and line ends, U+007F to
U+009F, and lone surrogates, which no file can hold.

## Why it matters

Some control terminals, some make programs stop reading, and none belongs in text.

## Bad

```markdown
It watches the clock{U+0007}.
```

## Good

```markdown
It watches the clock.
```

## How to fix it

Remove the character.
"""

import re
from collections.abc import Iterator

from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def check(context: LintContext) -> Iterator[Hit]:
    """Find control characters."""
    if context.is_printable:
        return
    for match in _CONTROL.finditer(context.text):
        code = f"U+{ord(match[0]):04X}"
        yield Hit(match.start(), f"Control character ({code}).", code)


RULE = Rule("MG704", "control-character", Severity.BLOCK, __doc__, check)
