"""A change as a short list of splices: exact, small, reversible.

Each splice has an offset in bytes of the old UTF-8 text, the removed text and the inserted text. The offsets
ascend and the removed texts do not overlap.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from garden.grammar.canonical import decoded, encoded
from garden.grammar.refusals import PatchConflictError

# Splices with less text between them become one.
_GAP_CHARACTERS_MIN = 16
# A change in more places than this is stored as one splice over all of them.
SPLICES_MAX = 100
# Slices of this size are compared fast: larger ones take fresh memory.
_BLOCK = 32 * 1024

Splices = tuple["Splice", ...]


@dataclass(frozen=True, slots=True)
class Splice:
    """One replacement; `offset` counts bytes of the old UTF-8 text."""

    offset: int
    removed: str
    inserted: str


@dataclass(frozen=True, slots=True)
class _Change:
    """The characters of the old text, from `start` to `end`, that became those of the new text."""

    start: int
    end: int
    new_start: int
    new_end: int


def splices_between(before: str, after: str, offset: int = 0) -> Splices:
    """Return the places where `after` differs; lines that both texts hold once separate them.

    `offset` is that of both texts in larger ones.
    """
    top = common_prefix(before, after)
    bottom = common_suffix(before, after, min(len(before), len(after)) - top)
    whole = _Change(top, len(before) - bottom, top, len(after) - bottom)
    changes = _merge(_changes_within(before, after, whole))
    if len(changes) > SPLICES_MAX:
        changes = [whole]
    splices, counted = [], 0
    for each in changes:
        offset += len(encoded(before[counted : each.start]))
        counted = each.start
        splices.append(Splice(offset, before[each.start : each.end], after[each.new_start : each.new_end]))
    return tuple(splices)


def apply_splices(text: str, splices: Iterable[Splice]) -> str:
    """Apply splices; refuse if a removed text is not at its offset."""
    return decoded(apply_to_bytes(encoded(text), splices))


def apply_to_bytes(data: bytes, splices: Iterable[Splice]) -> bytes:
    """Apply splices to an encoded text."""
    pieces: list[bytes] = []
    reached = 0
    for splice in splices:
        removed = encoded(splice.removed)
        end = splice.offset + len(removed)
        if splice.offset < reached or splice.offset > len(data) or data[splice.offset : end] != removed:
            raise PatchConflictError(
                f"The text that the splice removes is not at byte {splice.offset}.",
                hint="It belongs to another version of this text.",
            )
        pieces += data[reached : splice.offset], encoded(splice.inserted)
        reached = end
    return b"".join((*pieces, data[reached:]))


def reverse_splices(splices: Iterable[Splice]) -> Splices:
    """Return the splices that undo these."""
    reversed_splices, moved = [], 0
    for splice in splices:
        reversed_splices.append(Splice(splice.offset + moved, splice.inserted, splice.removed))
        moved += len(encoded(splice.inserted)) - len(encoded(splice.removed))
    return tuple(reversed_splices)


def common_prefix(
    before: Sequence[object], after: Sequence[object], start: int = 0, new_start: int = 0
) -> int:
    """Return the length of the common prefix from these places on."""
    low, moved = start, new_start - start
    end = min(len(before), len(after) - moved)
    while low < end and before[low : low + _BLOCK] == after[low + moved : low + moved + _BLOCK]:
        low += _BLOCK
    low, high = min(low, end), min(low + _BLOCK, end)
    # Comparing slices runs at C speed, so bisection beats a loop.
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low + moved : middle + moved]:
            low = middle
        else:
            high = middle - 1
    return low - start


def common_suffix(before: Sequence[object], after: Sequence[object], limit: int) -> int:
    """Return the length of the common suffix, at most `limit`."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if _end(before, middle, low) == _end(after, middle, low):
            low = middle
        else:
            high = middle - 1
    return low


def _changes_within(before: str, after: str, whole: _Change) -> list[_Change]:
    """Split a change at the lines that both of its texts hold once."""
    old = before[whole.start : whole.end].splitlines(keepends=True)
    new = after[whole.new_start : whole.new_end].splitlines(keepends=True)
    if not old or not new or len(old) == len(new) == 1:
        return [whole] if old != new else []
    kept = [(-1, -1), *_common_lines(old, new), (len(old), len(new))]
    starts = list(accumulate(map(len, old), initial=whole.start))
    new_starts = list(accumulate(map(len, new), initial=whole.new_start))
    changes = []
    for (above, new_above), (below, new_below) in pairwise(kept):
        if below - above > 1 or new_below - new_above > 1:
            between = _Change(
                starts[above + 1], starts[below], new_starts[new_above + 1], new_starts[new_below]
            )
            changes += _trimmed(before, after, between)
    return changes


def _trimmed(before: str, after: str, change: _Change) -> list[_Change]:
    old, new = before[change.start : change.end], after[change.new_start : change.new_end]
    if old == new:
        return []
    top = common_prefix(old, new)
    bottom = common_suffix(old, new, min(len(old), len(new)) - top)
    return [_Change(change.start + top, change.end - bottom, change.new_start + top, change.new_end - bottom)]


def _common_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pair the lines that both texts hold once, as many as stay in order in both."""
    places = _places_of_single_lines(new)
    pairs = [(place, places[line]) for line, place in _places_of_single_lines(old).items() if line in places]
    # The longest run that ascends in the new text. For each length, `ends` holds the lowest place where a run
    # of it ends and `last` the pair there; `before` links each pair to the one before it.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        if length == len(ends):
            ends.append(place)
            last.append(index)
        else:
            ends[length], last[length] = place, index
        before.append(last[length - 1] if length else -1)
    run, index = [], last[-1] if last else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def _places_of_single_lines(lines: Sequence[str]) -> dict[str, int]:
    counts = Counter(lines)
    return {line: place for place, line in enumerate(lines) if counts[line] == 1}


def _merge(changes: Sequence[_Change]) -> list[_Change]:
    merged: list[_Change] = []
    for change in changes:
        if merged and change.start - merged[-1].end < _GAP_CHARACTERS_MIN:
            first = merged[-1]
            merged[-1] = _Change(first.start, change.end, first.new_start, change.new_end)
        else:
            merged.append(change)
    return merged


def _end(members: Sequence[object], outer: int, inner: int) -> Sequence[object]:
    return members[len(members) - outer : len(members) - inner]
