"""Takes one change back from a text that has changed since, by whole lines, as `git revert` does."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from garden.grammar.diffs import line_opcodes
from garden.grammar.lines import split_lines

Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Replacement:
    """The lines of a text from `start` up to `end` that became `lines`."""

    start: int
    end: int
    lines: Lines

    @property
    def growth(self) -> int:
        """How many lines more the text has."""
        return len(self.lines) - (self.end - self.start)

    def overlaps(self, other: "Replacement") -> bool:
        """Whether both change a line, or one changes the lines on both sides of the other."""
        return self.start < other.end and other.start < self.end

    def includes(self, other: "Replacement") -> bool:
        """Whether it already leaves the lines that the other would leave there."""
        if not (self.start <= other.start and other.end <= self.end):
            return False
        count = len(other.lines)
        runs = (self.lines[at : at + count] for at in range(len(self.lines) - count + 1))
        return self.lines == other.lines or (count > 0 and other.lines in runs)


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A text without the change, or the `conflicts`: lines of the changed text that are others by now."""

    text: str
    conflicts: tuple[Replacement, ...] = ()


def take_back(before: str, after: str, now: str, undone: Sequence[Replacement] = ()) -> TakenBack:
    """Take the change from `before` to `after` back from the text as it is now, but not what is `undone`."""
    lines = split_lines(after)
    since = replacements(lines, split_lines(now))
    wanted = [
        each
        for each in replacements(lines, split_lines(before))
        if each not in undone
        and not any(later.includes(each) or _separates(lines, each) for later in _touching(each, since))
    ]
    conflicts = tuple(each for each in wanted if any(map(each.overlaps, _touching(each, since))))
    merged = sorted([*wanted, *since], key=lambda each: (each.start, each.end))
    return TakenBack(now if conflicts else _apply(lines, merged), conflicts)


def replacements(old: Sequence[str], new: Sequence[str]) -> list[Replacement]:
    """Return how the old lines become the new ones, line by line where that is possible."""
    opcodes = line_opcodes(list(old), list(new))
    return [
        change
        for tag, start, end, new_start, new_end in opcodes
        if tag != "equal"
        for change in _single(Replacement(start, end, tuple(new[new_start:new_end])))
    ]


def follow(place: Replacement, changes: Iterable[Replacement]) -> tuple[Replacement, bool]:
    """Find the lines at a place after other changes, and whether those changed them."""
    start, end, moved, grown, touched = place.start, place.end, 0, 0, False
    for each in changes:
        if each.overlaps(place):
            start, end, touched = min(start, each.start), max(end, each.end), True
            grown += each.growth
        elif each.end <= place.start:
            moved += each.growth
    return Replacement(start + moved, end + moved + grown, place.lines), touched


def _touching(place: Replacement, changes: Sequence[Replacement]) -> Sequence[Replacement]:
    """The ascending changes that overlap a place or lie right beside it."""
    first = bisect_left(changes, place.start, key=attrgetter("end"))
    return changes[first : bisect_right(changes, place.end, first, key=attrgetter("start"))]


def _separates(lines: Sequence[str], removal: Replacement) -> bool:
    """Whether only blank lines would go, which a later change beside them may need."""
    return not removal.lines and not "".join(lines[removal.start : removal.end]).strip()


def _single(change: Replacement) -> Iterator[Replacement]:
    """Split a change of as many lines as before, or a removal, into its lines."""
    count = change.end - change.start
    if change.lines and len(change.lines) != count:
        yield change
        return
    for number in range(count):
        yield Replacement(change.start + number, change.start + number + 1, change.lines[number : number + 1])


def _apply(lines: Sequence[str], changes: Iterable[Replacement]) -> str:
    pieces: list[str] = []
    reached = 0
    for each in changes:
        pieces += [*lines[reached : each.start], *each.lines]
        reached = each.end
    return "".join([*pieces, *lines[reached:]])
