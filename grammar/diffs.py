"""Unified diffs between two texts, with counts of added and removed lines."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import AnyStr

from garden.grammar.lines import split_lines
from garden.grammar.splice import common_prefix, common_suffix

CONTEXT_LINES = 3
_MAX_COMPARISONS = 4_000_000

Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff, empty if nothing changed, and how many lines it adds and removes."""

    text: str
    added: int
    removed: int


def unified_diff(before: str, after: str, path: str = "document.md") -> Diff:
    """Compare two texts; `ApplyDiff` reproduces the second text exactly from the diff."""
    if before == after:
        return Diff("", 0, 0)
    old, new = split_lines(before), split_lines(after)
    opcodes = line_opcodes(old, new)
    lines = [f"--- a/{path}\n", f"+++ b/{path}\n"]
    for group in hunks(opcodes):
        lines.extend(_hunk(old, new, group))
    return Diff("".join(lines), *count_lines(opcodes))


def count_lines(opcodes: list[Opcode]) -> tuple[int, int]:
    """How many lines were added and removed."""
    added = sum(end - start for tag, _, _, start, end in opcodes if tag != "equal")
    removed = sum(end - start for tag, start, end, _, _ in opcodes if tag != "equal")
    return added, removed


def line_opcodes(old: list[AnyStr], new: list[AnyStr]) -> list[Opcode]:
    """Where two lists of lines are equal, and where not, as `SequenceMatcher` says it."""
    top = common_prefix(old, new)
    bottom = common_suffix(old, new, min(len(old), len(new)) - top)
    middle_old, middle_new = old[top : len(old) - bottom], new[top : len(new) - bottom]
    shifted: list[Opcode] = [
        (tag, old_start + top, old_end + top, new_start + top, new_end + top)
        for tag, old_start, old_end, new_start, new_end in _middle(middle_old, middle_new)
    ]
    head: list[Opcode] = [("equal", 0, top, 0, top)] if top else []
    tail: list[Opcode] = (
        [("equal", len(old) - bottom, len(old), len(new) - bottom, len(new))] if bottom else []
    )
    return [*head, *shifted, *tail]


def _middle(old: list[AnyStr], new: list[AnyStr]) -> list[Opcode]:
    # The matcher's time grows with the product; above the limit, replace the whole middle instead.
    if len(old) * len(new) > _MAX_COMPARISONS or not old or not new:
        return [("replace", 0, len(old), 0, len(new))]
    return list(SequenceMatcher(_too_common(old, new), old, new, autojunk=False).get_opcodes())


def _too_common(old: list[AnyStr], new: list[AnyStr]) -> Callable[[AnyStr], bool] | None:
    """Return a test for lines that are too common to start a match; None if no line is.

    The matcher examines all pairs of equal lines for every stretch that it finds, so a line that occurs
    hundreds of times would take minutes.
    """
    counts = Counter(new)
    pairs = sum(counts[line] for line in old)
    if pairs * min(len(old), len(new)) <= _MAX_COMPARISONS:
        return None
    return lambda line: counts[line] > 1


def hunks(opcodes: list[Opcode]) -> Iterator[list[Opcode]]:
    """Group changes into hunks; a hunk ends where more than two contexts of equal lines follow."""
    group: list[Opcode] = []
    last = len(opcodes) - 1
    for number, (tag, old_start, old_end, new_start, new_end) in enumerate(opcodes):
        if tag != "equal":
            group.append((tag, old_start, old_end, new_start, new_end))
            continue
        size = old_end - old_start
        if 0 < number < last and size <= 2 * CONTEXT_LINES:
            group.append((tag, old_start, old_end, new_start, new_end))
            continue
        if number > 0:
            kept = min(size, CONTEXT_LINES)
            yield [*group, (tag, old_start, old_start + kept, new_start, new_start + kept)]
        kept = min(size, CONTEXT_LINES)
        group = [(tag, old_end - kept, old_end, new_end - kept, new_end)]
    if opcodes[last][0] != "equal":
        yield group


def _hunk(old: list[str], new: list[str], group: list[Opcode]) -> Iterator[str]:
    yield hunk_header(group)
    for tag, old_start, old_end, new_start, new_end in group:
        if tag == "equal":
            yield from _signed(" ", old[old_start:old_end])
        else:
            yield from _signed("-", old[old_start:old_end])
            yield from _signed("+", new[new_start:new_end])


def hunk_header(group: list[Opcode]) -> str:
    """The line above a hunk, which names its place in both texts."""
    first, last = group[0], group[-1]
    return f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"


def _range(start: int, end: int) -> str:
    length = end - start
    # For an empty range, the convention names the line before it.
    return f"{start if not length else start + 1},{length}"


def _signed(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
