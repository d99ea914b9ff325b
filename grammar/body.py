"""The layout of a section's body: which blank lines belong around its words.

A body is taken apart into blank lines, words and the rest, so that putting the same words in again gives the
same bytes, however the blank lines stood.
"""

import re
from dataclasses import dataclass

from garden.grammar.lines import flat, with_newlines

_BLANK_START = re.compile(r"(?:[ \t]*\n)*")


@dataclass(frozen=True, slots=True)
class Layout:
    """A body in three parts: blank lines, words without their last line end, and what follows them."""

    lead: str
    words: str
    trail: str


def layout_of(body: str) -> Layout:
    """Take a body apart; one without words is all `trail`."""
    flat_body = flat(body)
    kept = len(flat_body.rstrip(" \t\n"))
    if not kept:
        return Layout("", "", body)
    start = _end_of_blank_start(flat_body)
    return Layout(body[:start], body[start:kept], body[kept:])


def trimmed(text: str, newline: str) -> str:
    """Take the blank lines off both ends of new words and give them the document's line ends."""
    flat_text = flat(text)
    kept = text[: len(flat_text.rstrip(" \t\n"))]
    return with_newlines(kept[_end_of_blank_start(flat(kept)) :], newline)


def with_words(body: str, words: str, newline: str, *, followed: bool, ended: bool) -> str:
    """Put other words into a body.

    `followed` tells whether another heading comes after it, `ended` whether the file ends with a line end.
    """
    layout = layout_of(body)
    if words == layout.words:
        return body
    if not words:
        return layout.lead + _without_first_line_end(layout.trail)
    if not layout.words:
        return newline + words + (newline * 2 if followed else newline * ended)
    return layout.lead + words + _trail(layout.trail, newline, followed=followed)


def _end_of_blank_start(flat_text: str) -> int:
    match = _BLANK_START.match(flat_text)
    return match.end() if match else 0


def _trail(trail: str, newline: str, *, followed: bool) -> str:
    # Without a blank line an underlined heading below would take the last paragraph into itself.
    tight = followed and flat(trail).count("\n") < 2
    return trail + newline if tight else trail


def _without_first_line_end(trail: str) -> str:
    position = flat(trail).find("\n")
    return trail[position + 1 :] if position >= 0 else ""
