"""The layout of a section's body: its words and the blank lines around them.

A body is split into leading blank lines, words and the rest. Filling in the same words again gives the same
bytes, so an edit never adds or removes blank lines.
"""

import re
from dataclasses import dataclass

from garden.grammar.lines import flat, with_newlines

_BLANK_START = re.compile(r"(?:[ \t]*\n)*")


@dataclass(frozen=True, slots=True)
class Layout:
    """A body in three parts: leading blank lines, words without their last line end, and the rest."""

    lead: str
    words: str
    trail: str


def layout_of(body: str) -> Layout:
    """Split a body into its parts; a body without words is all `trail`."""
    flat_body = flat(body)
    kept = len(flat_body.rstrip(" \t\n"))
    if not kept:
        return Layout("", "", body)
    start = _end_of_blank_start(flat_body)
    return Layout(body[:start], body[start:kept], body[kept:])


def trim_words(text: str, newline: str) -> str:
    """Remove blank lines at both ends of new words and give the words the document's line ends."""
    flat_text = flat(text)
    kept = text[: len(flat_text.rstrip(" \t\n"))]
    return with_newlines(kept[_end_of_blank_start(flat(kept)) :], newline)


def fill_body(layout: Layout, words: str, newline: str, *, followed: bool, ended: bool) -> str:
    """Replace the words of a body and keep its layout.

    `followed` says that another heading comes after it, `ended` that the file ends with a line end.
    """
    if words == layout.words:
        return layout.lead + words + layout.trail
    if not words:
        return layout.lead + _drop_first_line_end(layout.trail)
    if not layout.words:
        return newline + words + (newline * 2 if followed else newline * ended)
    return layout.lead + words + _trail(layout.trail, newline, followed=followed)


def _end_of_blank_start(flat_text: str) -> int:
    match = _BLANK_START.match(flat_text)
    return match.end() if match else 0


def _trail(trail: str, newline: str, *, followed: bool) -> str:
    # Without a blank line, an underlined heading below would absorb the last paragraph.
    tight = followed and flat(trail).count("\n") < 2
    return trail + newline if tight else trail


def _drop_first_line_end(trail: str) -> str:
    position = flat(trail).find("\n")
    return trail[position + 1 :] if position >= 0 else ""
