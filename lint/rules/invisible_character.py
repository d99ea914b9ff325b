"""The text contains an invisible character.

Zero-width characters, marks that reorder text for display, tag characters, runs of variation selectors, line
and paragraph separators, and soft hyphens. Allowed are joiners between the parts of an emoji, joiners and
non-joiners in scripts that need them (Arabic, Persian, the scripts of India and their relatives), zero-width
spaces in Thai, Lao, Burmese, Khmer and Tibetan, and direction marks on a line with right-to-left letters.
Direction overrides are never allowed.

## Why it matters

The text differs from what a reader sees: a search misses words, names that look equal differ, and text that
an agent reads can be hidden from a reviewer.

## Bad

```markdown
It watches the cl{U+200B}ock.
```

## Good

```markdown
It watches the clock.
```

## How to fix it

Remove the character. `fix` doesn't do it, because it may be intended.
"""

import re
import unicodedata
from collections.abc import Iterator

from garden.lint.context import LintContext
from garden.lint.finding import Hit, Severity
from garden.lint.rule import Rule

_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_CANDIDATE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    f"\u3164\ufeff\uffa0\ufff9-\ufffb{_SELECTORS}\U0001d173-\U0001d17a\U000e0000-\U000e007f]+"
)
_EMOJI = "\u00a9\u00ae\u203c-\u3299\ufe0f\U0001f000-\U0001faff"
_JOINING = (
    "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1a20-\u1bff\ua840-\ua87f\ua8e0-\ua9df\uaae0-\uaaff"
    "\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00011000-\U00011fff"
)
_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1a20-\u1aaf\ua980-\ua9df"
_MARKS = "\u061c\u200e\u200f\u202a-\u202c\u2066-\u2069"
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)

# The neighbours decide whether an invisible character has a function.
_FINE_IN_PLACE = re.compile(
    f"(?<=[{_JOINING}])[\u200c\u200d]|(?<=[{_EMOJI}])\u200d(?=[{_EMOJI}])|(?<=[{_UNSPACED}])\u200b"
    f"|(?<=[\u1800-\u18af])[\u180b-\u180e]|(?<=\U0001f3f4)[\U000e0020-\U000e007e]+\U000e007f"
    f"|(?<![{_SELECTORS}])[{_SELECTORS}]"
)
_NEAR = 200
_MARKS_ONLY = re.compile(f"[{_MARKS}]+")


def check(context: LintContext) -> Iterator[Hit]:
    """Find invisible characters without a function."""
    if context.is_printable and context.is_latin:
        return
    for match in _CANDIDATE.finditer(context.text):
        start = match.start()
        if start == 0 and match[0] == "\ufeff":
            continue
        offset = _first_without_function(context, start, match.end())
        if offset is not None:
            yield Hit(offset, f"Invisible character ({_character_name(context.text[offset])}).", match[0])


def _first_without_function(context: LintContext, offset: int, end: int) -> int | None:
    while offset < end:
        fine = _FINE_IN_PLACE.match(context.text, offset) or _mark_near_its_letters(context, offset)
        if not fine:
            return offset
        offset = fine.end()
    return None


def _mark_near_its_letters(context: LintContext, offset: int) -> re.Match[str] | None:
    match = _MARKS_ONLY.match(context.text, offset)
    return match if match and _RIGHT_TO_LEFT.search(_line_around(context.text, offset)) else None


def _line_around(text: str, offset: int) -> str:
    # Only a part of the line, which can be as long as the text.
    before = text[max(offset - _NEAR, 0) : offset].rpartition("\n")[2]
    return before + text[offset : offset + _NEAR].partition("\n")[0]


def _character_name(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()


RULE = Rule("MG705", "invisible-character", Severity.STYLE, __doc__, check)
