"""A change as one splice: an offset, the removed text and the inserted text. Exact, small, reversible."""

from collections.abc import Sequence
from dataclasses import dataclass

from garden.grammar.refusals import PatchConflictError


@dataclass(frozen=True, slots=True)
class Splice:
    """One replacement; `offset` counts bytes of the UTF-8 text."""

    offset: int
    removed: str
    inserted: str

    @property
    def reverse(self) -> "Splice":
        """The splice that undoes this one."""
        return Splice(self.offset, self.inserted, self.removed)


def splice_between(before: str, after: str) -> Splice:
    """Return the smallest splice that turns `before` into `after`."""
    top = common_prefix(before, after)
    bottom = common_suffix(before, after, min(len(before), len(after)) - top)
    offset = len(_encoded(before[:top]))
    return Splice(offset, before[top : len(before) - bottom], after[top : len(after) - bottom])


def apply_splice(text: str, splice: Splice) -> str:
    """Apply a splice; refuse if the removed text is not at its offset."""
    data = _encoded(text)
    removed = _encoded(splice.removed)
    end = splice.offset + len(removed)
    if splice.offset > len(data) or data[splice.offset : end] != removed:
        raise PatchConflictError(
            f"The text that the splice removes is not at byte {splice.offset}.",
            hint="It belongs to another version of this text.",
        )
    return (data[: splice.offset] + _encoded(splice.inserted) + data[end:]).decode("utf-8", "surrogatepass")


def common_prefix(before: Sequence[str], after: Sequence[str]) -> int:
    """Return the length of the common prefix."""
    low, high = 0, min(len(before), len(after))
    # Comparing slices runs at C speed, so bisection beats a loop.
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(before: Sequence[str], after: Sequence[str], limit: int) -> int:
    """Return the length of the common suffix, at most `limit`."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if _end(before, middle, low) == _end(after, middle, low):
            low = middle
        else:
            high = middle - 1
    return low


def _end(members: Sequence[str], outer: int, inner: int) -> Sequence[str]:
    return members[len(members) - outer : len(members) - inner]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
