"""Diffs that mark the changed words inside lines: `[-old-]` and `{+new+}`."""

import re
from difflib import SequenceMatcher

from garden.grammar.diffs import Diff, count_lines, hunk_header, hunks, line_opcodes
from garden.grammar.lines import split_lines

_WORD = re.compile(r"\w+|\n|[^\S\n]+|[^\w\s]")
_COMPARISONS_MAX = 250_000


def word_diff(before: str, after: str, path: str = "document.md") -> Diff:
    """Compare two texts like `unified_diff`, with the changed words marked in place."""
    if before == after:
        return Diff("", 0, 0)
    old, new = split_lines(before), split_lines(after)
    opcodes = line_opcodes(old, new)
    pieces = [f"--- a/{path}\n", f"+++ b/{path}\n"]
    for group in hunks(opcodes):
        pieces.append(hunk_header(group))
        for tag, start, end, new_start, new_end in group:
            was, now = "".join(old[start:end]), "".join(new[new_start:new_end])
            pieces.append(now if tag == "equal" else _marked(was, now))
    return Diff("".join(pieces), *count_lines(opcodes))


def _marked(before: str, after: str) -> str:
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) * len(new) > _COMPARISONS_MAX:
        return _signed("[-", before, "-]") + _signed("{+", after, "+}")
    return "".join(
        "".join(old[start:end])
        if tag == "equal"
        else _signed("[-", "".join(old[start:end]), "-]")
        + _signed("{+", "".join(new[new_start:new_end]), "+}")
        for tag, start, end, new_start, new_end in SequenceMatcher(None, old, new, False).get_opcodes()
    )


def _signed(left: str, words: str, right: str) -> str:
    """Mark words line by line; line ends stay outside."""
    marked = (f"{left}{line}{right}" if line else "" for line in words.split("\n"))
    return "\n".join(marked)
