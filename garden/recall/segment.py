"""A segment of an index: passages as columns, and the postings of their words."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import cache
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from garden.passages.words import plain_hash

if TYPE_CHECKING:
    from garden.events.recall_reader import SectionColumns

_OCCURRENCES_MAX = 255
_CODE_BYTES = 8
_MARKS_MAX = 3

Ints = NDArray[np.signedinteger[Any]]
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float32]


class Group(NamedTuple):
    """What all passages under one heading share."""

    path: str
    anchor: str
    heading: str
    language: str


class Columns(NamedTuple):
    """Passages as columns; `words` holds those of all passages, one after the other."""

    numbers: Numbers
    previous: Numbers
    days: Ints
    groups: Ints
    lengths: Ints
    words: NDArray[np.uint32]
    embedded: Flags
    vectors: NDArray[np.int8]

    def only(self, kept: Flags) -> "Columns":
        """The rows that are kept."""
        words = self.words[np.repeat(kept, self.lengths)]
        numbers, previous, days, groups, lengths, _, embedded, vectors = self
        return Columns(
            *(numbers[kept], previous[kept], days[kept], groups[kept], lengths[kept]),
            *(words, embedded[kept], vectors[kept]),
        )


def joined(parts: Sequence[Columns]) -> Columns:
    """The rows of several parts, one after the other."""
    # A first reading is large, and comes to nothing else: then it is not copied.
    parts = [part for part in parts if len(part.numbers)] or parts[:1]
    if not parts[1:]:
        return parts[0]
    return Columns._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def rows_of_sections(
    sections: Iterable["SectionColumns"], group_of: Callable[[Group], int], dimensions: int
) -> Columns:
    """The rows in what the database returned."""
    found = list(sections)
    numbers = np.frombuffer(b"".join(each.numbers for each in found), ">i8").astype(np.int64)
    embedded = np.frombuffer(b"".join(each.embedded for each in found), np.bool_)
    vectors = np.zeros((len(numbers), dimensions), np.int8)
    sent = b"".join(each.vectors or b"" for each in found)
    vectors[embedded] = np.frombuffer(sent, np.int8).reshape(-1, dimensions or 1)
    groups = np.array([group_of(Group(*each[:4])) for each in found], np.int32)
    return Columns(
        numbers,
        np.frombuffer(b"".join(each.previous for each in found), ">i8").astype(np.int64),
        np.frombuffer(b"".join(each.days for each in found), ">i4").astype(np.int32),
        np.repeat(groups, [len(each.embedded) for each in found]),
        np.frombuffer(b"".join(each.lengths for each in found), ">i4").astype(np.int32),
        np.frombuffer(b"".join(each.words for each in found), "<u4"),
        embedded,
        vectors,
    )


def sign_codes(signs: Flags) -> NDArray[np.uint64]:
    """One bit a sign, in a row for each 64 of them."""
    packed = np.packbits(signs, axis=1)
    width = packed.shape[1]
    bits = np.zeros((len(packed), width + -width % _CODE_BYTES), np.uint8)
    bits[:, :width] = packed
    return np.ascontiguousarray(bits.view(np.uint64).T)


class Segment:
    """Passages that do not change, each with a place, and the postings of their words.

    `above` is the place of the passage above each, or -1, `leads` has the first words after a date, and
    `codes` the signs of the vectors.
    """

    def __init__(self, rows: Columns) -> None:
        self.rows = rows
        self._order = np.argsort(rows.numbers, kind="stable").astype(np.int32)
        self._sorted = rows.numbers[self._order]
        self.above = self.places_of(rows.previous)
        places = np.repeat(np.arange(len(rows.numbers), dtype=np.uint64), rows.lengths)
        keys = np.sort(rows.words.astype(np.uint64) << np.uint64(32) | places)
        firsts = np.flatnonzero(np.diff(keys, prepend=~keys[:1]))
        self._places = keys[firsts].astype(np.uint32).astype(np.int32)
        self._counts = np.diff(firsts, append=len(keys)).clip(max=_OCCURRENCES_MAX).astype(np.uint8)
        terms = (keys[firsts] >> np.uint64(32)).astype(np.uint32)
        starts = np.flatnonzero(np.diff(terms, prepend=~terms[:1]))
        self._terms, self._starts = terms[starts], np.append(starts, len(firsts))
        self.codes = sign_codes(rows.vectors > 0)
        self.leads = _leads(rows)

    def __len__(self) -> int:
        return len(self.rows.numbers)

    @property
    def size(self) -> int:
        """The bytes that it takes in memory."""
        arrays = (value for value in (*vars(self).values(), *self.rows) if isinstance(value, np.ndarray))
        return sum(array.nbytes for array in arrays)

    def places_of(self, numbers: Numbers) -> Ints:
        """The place of each number, or -1."""
        if not len(self):
            return np.full(len(numbers), -1, np.int32)
        near = np.searchsorted(self._sorted, numbers).clip(max=len(self) - 1)
        return np.where(self._sorted[near] == numbers, self._order[near], np.int32(-1))

    def postings(self, term: int) -> tuple[Ints, NDArray[np.uint8]]:
        """The places of the passages with a word, and how often each has it."""
        at = int(np.searchsorted(self._terms, np.uint32(term)))
        found = at < len(self._terms) and self._terms[at] == term
        span = slice(self._starts[at], self._starts[at + 1]) if found else slice(0, 0)
        return self._places[span], self._counts[span]


def _leads(rows: Columns) -> NDArray[np.uint32]:
    days, of_rows = np.unique(rows.days, return_inverse=True)
    dates = np.array([plain_hash(date.fromordinal(day + 1).isoformat()) for day in days.tolist()], np.uint32)
    words = np.append(rows.words, np.zeros(_MARKS_MAX + 1, np.uint32))
    places = np.cumsum(rows.lengths) - rows.lengths
    ends = places + rows.lengths
    places += words[places] == dates[of_rows]
    for _ in range(_MARKS_MAX):
        found = words[places]
        places += _marks()[np.searchsorted(_marks()[:-1], found)] == found
    return np.where(places < ends, words[places], np.uint32(0))


@cache
def _marks() -> NDArray[np.uint32]:
    """Words that stand between a date and a name: times, numbers, and a letter with a number."""
    times = (f"{hour}:{minute:02} {hour:02}:{minute:02}" for hour in range(24) for minute in range(60))
    marks = (f"{letter}{number}" for letter in ("", *ascii_lowercase) for number in range(100))
    return np.unique(np.array([plain_hash(mark) for mark in ("am", "pm", *times, *marks)], np.uint32))
