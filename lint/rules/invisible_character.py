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

from garden.lint.finding import Hit, Severity
from garden.lint.rule import SectionRule
from garden.lint.section_context import SectionContext

_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_CANDIDATES = (
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    f"\u3164\ufeff\uffa0\ufff9-\ufffb{_SELECTORS}\U0001d173-\U0001d17a\U000e0000-\U000e007f]+"
)
_CANDIDATE = re.compile(_CANDIDATES)
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


def check(section: SectionContext) -> Iterator[Hit]:
    """Find invisible characters without a function."""
    for match in _CANDIDATE.finditer(section.text):
        start = match.start()
        is_byte_order_mark = start == 0 and match[0] == "\ufeff" and not section.content.level
        if is_byte_order_mark:
            continue
        offset = _first_without_function(section, start, match.end())
        if offset is not None:
            yield Hit(offset, f"Invisible character ({_character_name(section.text[offset])}).", match[0])


def _first_without_function(section: SectionContext, offset: int, end: int) -> int | None:
    while offset < end:
        fine = _FINE_IN_PLACE.match(section.text, offset) or _mark_near_its_letters(section, offset)
        if not fine:
            return offset
        offset = fine.end()
    return None


def _mark_near_its_letters(section: SectionContext, offset: int) -> re.Match[str] | None:
    match = _MARKS_ONLY.match(section.text, offset)
    return match if match and _RIGHT_TO_LEFT.search(_line_around(section.text, offset)) else None


def _line_around(text: str, offset: int) -> str:
    # Only a part of the line, which can be as long as the text.
    before = text[max(offset - _NEAR, 0) : offset].rpartition("\n")[2]
    return before + text[offset : offset + _NEAR].partition("\n")[0]


def _character_name(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()


RULE = SectionRule(
    "MG705", "invisible-character", Severity.STYLE, __doc__, check, signs=frozenset({_CANDIDATES})
)
