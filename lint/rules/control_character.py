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

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_SIGNS = frozenset({r"[\x{00}-\x{08}\x{0b}\x{0c}\x{0e}-\x{1f}\x{7f}-\x{9f}]", r"\\ud[89a-f]"})


def check(section: SectionContext) -> Iterator[Hit]:
    """Find control characters."""
    for match in _CONTROL.finditer(section.text):
        code = f"U+{ord(match[0]):04X}"
        yield Hit(match.start(), f"Control character ({code}).", code)


RULE = SectionRule("MG704", "control-character", Severity.BLOCK, __doc__, check, signs=_SIGNS)
