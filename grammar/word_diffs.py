"""Diffs that mark the changed words inside lines: `[-old-]` and `{+new+}`."""

import re

from garden.grammar.diffs import Diff, Opcode, count_lines, hunk_header, hunks, line_opcodes
from garden.grammar.lines import split_lines

_WORD = re.compile(r"\w+|\n|[^\S\n]+|[^\w\s]")
_COMPARISONS_MAX = 1_000_000
"""Changed lines beyond so many comparisons of words are marked as a whole."""


def word_diff(before: str, after: str, path: str = "document.md") -> Diff:
    """Compare two texts like `unified_diff`, with the changed words marked in place."""
    if before == after:
        return Diff("", 0, 0)
    old, new, left = split_lines(before), split_lines(after), _COMPARISONS_MAX
    opcodes = line_opcodes(old, new)
    pieces = [f"--- a/{path}\n", f"+++ b/{path}\n"]
    for group in hunks(opcodes):
        pieces.append(hunk_header(group))
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                pieces += new[new_start:new_end]
                continue
            was = _WORD.findall("".join(old[start:end]))
            now = _WORD.findall("".join(new[new_start:new_end]))
            left -= len(was) * len(now)
            replaced = "replace", 0, len(was), 0, len(now)
            pieces.append(_marked(was, now, line_opcodes(was, now) if left >= 0 else [replaced]))
    return Diff("".join(pieces), *count_lines(opcodes))


def _marked(old: list[str], new: list[str], opcodes: list[Opcode]) -> str:
    return "".join(
        "".join(old[start:end])
        if tag == "equal"
        else _signed("[-", "".join(old[start:end]), "-]")
        + _signed("{+", "".join(new[new_start:new_end]), "+}")
        for tag, start, end, new_start, new_end in opcodes
    )


def _signed(left: str, words: str, right: str) -> str:
    """Mark words line by line; line ends stay outside."""
    marked = (f"{left}{line}{right}" if line else "" for line in words.split("\n"))
    return "\n".join(marked)
