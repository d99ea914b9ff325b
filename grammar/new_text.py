"""What new words may not hold: a section's heading, an anchor, anything that swallows what follows."""

import re

from garden.grammar.headings import find_headings
from garden.grammar.lines import flat
from garden.grammar.refusals import AnchorInTextError, HeadingInSectionError, InvalidInputError

_ANCHOR_COMMENT = re.compile(r"<!--\s*@anchor\b", re.IGNORECASE)
_PROBE = "\n\n## probe\n"


def refuse_anchor(text: str) -> None:
    """Refuse text that holds an anchor comment, wherever in it."""
    if _ANCHOR_COMMENT.search(text):
        raise AnchorInTextError(
            "The new text holds an anchor comment.",
            hint="Leave `<!-- @anchor: ... -->` out: the section keeps the anchor it has.",
        )


def refuse_headings(text: str) -> None:
    """Refuse text that would begin a section of its own."""
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
    """Refuse text after which a heading would no longer be one: a fence or a comment is left open."""
    if swallows_what_follows(text):
        raise InvalidInputError(
            "The text ends inside a code fence, an HTML comment or an HTML block, which would swallow "
            "whatever follows it.",
            hint="Close what the text opens; a fence closes with at least as many marks as it began with.",
        )


def swallows_what_follows(text: str) -> bool:
    """Tell whether a heading placed below this text would be taken for text."""
    probed = flat(text) + _PROBE
    headings = find_headings(probed, 0)
    return not headings or headings[-1].span.end != len(probed) or headings[-1].text != "probe"


def refuse_empty(text: str, what: str) -> None:
    """Refuse words that are none."""
    if not text.strip():
        raise InvalidInputError(f"{what} is empty.", hint="Give the words to put in.")
