"""Checks of new text: no heading of a section, no anchor, nothing left open at the end."""

import re

from garden.grammar.headings import find_headings
from garden.grammar.lines import flat
from garden.grammar.refusals import AnchorInTextError, HeadingInSectionError, InvalidInputError
from garden.grammar.scanner import may_hold_headings

_ANCHOR_COMMENT = re.compile(r"<!--\s*@anchor\b", re.IGNORECASE)
_PROBE = "\n\n## probe\n"


def refuse_anchor(text: str) -> None:
    """Refuse text that contains an anchor comment."""
    if _ANCHOR_COMMENT.search(text):
        raise AnchorInTextError(
            "The new text contains an anchor comment.",
            hint="Leave `<!-- @anchor: ... -->` out: the section keeps its anchor.",
        )


def refuse_headings(text: str) -> None:
    """Refuse text that would begin another section."""
    own = [heading for heading in find_headings(flat(text), 0) if heading.level <= 2]
    if own:
        first = own[0]
        raise HeadingInSectionError(
            f"Line {first.line} of the new text is a heading of level {first.level}: {first.text!r}.",
            hint="Inside a section use ### or deeper, or a fence for text that only shows a heading. "
            "For several sections make one edit each; to add a section write the file.",
            details={"line": first.line, "level": first.level, "heading": first.text},
        )


def refuse_open_end(text: str) -> None:
    """Refuse text that leaves a fence or a comment open."""
    if has_open_end(text):
        raise InvalidInputError(
            "The text ends inside a code fence, an HTML comment or an HTML block, which would swallow "
            "the text after it.",
            hint="Close it; a fence closes with at least as many marks as it began with.",
        )


def refuse_structure(text: str) -> None:
    """Refuse text that would begin another section, or leaves a fence or a comment open."""
    if may_hold_headings(flat(text)):
        refuse_headings(text)
        refuse_open_end(text)


def has_open_end(text: str) -> bool:
    """Whether a heading below this text would be read as part of the text."""
    flat_text = flat(text)
    if not may_hold_headings(flat_text):
        return False
    probed = flat_text + _PROBE
    headings = find_headings(probed, 0)
    return not headings or headings[-1].span.end != len(probed) or headings[-1].text != "probe"


def refuse_empty(text: str, subject: str) -> None:
    """Refuse text without words; `subject` names it in the message."""
    if not text.strip():
        raise InvalidInputError(f"{subject} is empty.", hint="Give the words to add.")
