"""The index of one user's passages in memory: one large segment, and a small one with what came since."""

from collections.abc import Collection
from functools import cached_property
from sys import getsizeof

import numpy as np
from numpy.typing import NDArray

from garden.files.paths import GardenPath
from garden.passages.words import word_hashes
from garden.recall.segment import Columns, Flags, Floats, Group, Ints, Numbers, Segment, joined, sign_codes

_DELTA_PASSAGES_MIN = 2000
_DELTA_SHARE = 8
_DAY_BITS = 32
# What Python keeps of a group beside its strings and words; the words stand there again to be searched.
_GROUP_BYTES, _WORD_COPIES = 400, 4
# Names come again after a few turns.
_TURNS, _TALK_MIN, _TALK_SHARE = 4, 8, 0.6


class Groups:
    """The groups of an index by number, with the words of their headings; it only grows."""

    def __init__(self) -> None:
        self.all: list[Group] = []
        self.kinds: list[str | None] = []
        self.words: list[NDArray[np.uint32]] = []
        self._numbers: dict[Group, int] = {}
        self.size = 0

    def number_of(self, group: Group) -> int:
        """The number of a group, which is added if it is new."""
        if group not in self._numbers:
            path = GardenPath(group.path)
            title = f"{group.heading} {path.subject}"
            self.kinds.append(path.kind)
            self.words.append(np.frombuffer(word_hashes(title, group.language), "<u4"))
            self.all.append(group)
            self._numbers[group] = len(self.all) - 1
            self.size += _GROUP_BYTES + sum(map(getsizeof, group)) + _WORD_COPIES * self.words[-1].nbytes
        return self._numbers[group]

    def forget(self, paths: Collection[str]) -> None:
        """Drop the headings of some documents, whose words may have been erased; no number is used again."""
        for number, group in enumerate(self.all):
            if group.path in paths:
                self._numbers.pop(group, None)
                self.all[number] = group._replace(anchor="", heading="")
                self.words[number] = self.words[number][:0].copy()


class Index:
    """The passages of a user at one moment; a change makes another index, which shares the large segment.

    Each passage has a place: those of the base come first. `above` and `below` are the places of its
    neighbours, in a talk only of the same day, and -1 without one.
    """

    def __init__(self, groups: Groups, base: Segment, delta: Segment, is_live: Flags) -> None:
        self.made_of = (base, delta)
        self.all_groups, self.is_live = groups, is_live
        self._count = int(np.count_nonzero(is_live))
        rows = (base.rows, delta.rows)
        self.numbers: Numbers = np.concatenate([each.numbers for each in rows])
        self.days: Ints = np.concatenate([each.days for each in rows])
        self.groups: Ints = np.concatenate([each.groups for each in rows])
        self.lengths: Ints = np.concatenate([each.lengths for each in rows])
        self.embedded: Flags = np.concatenate([each.embedded for each in rows]) & is_live
        self.leads = np.concatenate([each.leads for each in self.made_of])
        links = self._links()
        self.is_talk = self._is_talk(links)[self.groups]
        self.above = np.where(self.is_talk & (self.days[links] != self.days), np.int32(-1), links)
        self.below = np.full_like(self.above, -1)
        linked = np.flatnonzero(self.above >= 0)
        self.below[self.above[linked]] = linked

    @classmethod
    def of(cls, rows: Columns, groups: Groups) -> "Index":
        """The index of these passages."""
        count = len(rows.numbers)
        empty = rows.only(np.zeros(count, np.bool_))
        return cls(groups, Segment(rows), Segment(empty), np.ones(count, np.bool_))

    def __len__(self) -> int:
        return self._count

    @cached_property
    def waiting(self) -> Numbers:
        """The numbers of the passages without a vector."""
        return self.numbers[self.is_live & ~self.embedded]

    @cached_property
    def size(self) -> int:
        """The bytes that it takes in memory."""
        own = (value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))
        return sum(own) + sum(each.size for each in self.made_of) + self.all_groups.size

    @cached_property
    def relative_lengths(self) -> Floats:
        """The number of words of each passage, as a share of their mean."""
        mean = float(self.lengths[self.is_live].sum()) / max(len(self), 1)
        return (self.lengths / (mean or 1.0)).astype(np.float32)

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages of its groups."""
        return frozenset(group.language for group in self.all_groups.all)

    @cached_property
    def _titles(self) -> tuple[NDArray[np.uint32], Ints]:
        # Another thread may be adding groups.
        words = self.all_groups.words[: len(self.all_groups.all)]
        owners = np.repeat(np.arange(len(words)), [len(each) for each in words])
        return np.concatenate([*words, np.empty(0, np.uint32)]), owners

    def changed(self, rows: Columns, gone: Numbers, dropped: Collection[str] = ()) -> "Index":
        """The index after these passages came and those, or all of some paths, went."""
        base, delta = self.made_of
        paths = np.array([group.path in dropped for group in self.all_groups.all], np.bool_)
        left = self.is_live & ~paths[self.groups] if dropped else self.is_live.copy()
        left[self.places_of(np.concatenate([gone, rows.numbers]))] = False
        fresh = joined([delta.rows.only(left[len(base) :]), rows])
        left = left[: len(base)]
        if len(fresh.numbers) > max(_DELTA_PASSAGES_MIN, len(base) // _DELTA_SHARE):
            return Index.of(joined([base.rows.only(left), fresh]), self.all_groups)
        is_live = np.append(left, np.ones(len(fresh.numbers), np.bool_))
        return Index(self.all_groups, base, Segment(fresh), is_live)

    def places_of(self, numbers: Numbers) -> Ints:
        """The places of the live passages with these numbers; unknown numbers are left out."""
        base, delta = self.made_of
        newer = delta.places_of(numbers)
        places = np.where(newer >= 0, newer + len(base), base.places_of(numbers))
        places = places[places >= 0]
        return places[self.is_live[places]]

    def _titled(self, terms: Collection[int]) -> Flags:
        words, owners = self._titles
        titled = np.zeros(len(self.all_groups.all), np.bool_)
        titled[owners[is_one_of(words, terms)]] = True
        return titled

    def runs(self, places: Ints) -> Numbers:
        """The runs that the passages at these places belong to: sections, and days of talks."""
        days = np.where(self.is_talk[places], self.days[places], 0)
        return self.groups[places].astype(np.int64) << _DAY_BITS | days

    def distances(self, vector: Floats) -> Ints:
        """In how many dimensions the sign of each vector differs from that of this one."""
        [signs] = sign_codes(vector[None] > 0).T
        parts = [np.zeros(len(each), np.uint16) for each in self.made_of]
        for part, segment in zip(parts, self.made_of, strict=True):
            for codes, word in zip(segment.codes, signs, strict=True):
                part += np.bitwise_count(codes ^ word)
        return np.concatenate(parts).astype(np.int32)

    def postings(self, terms: Collection[int]) -> tuple[Ints, Floats]:
        """The places of the live passages that have one of these words, headings included but for talks."""
        found = [
            (places + shift, counts)
            for shift, segment in zip((0, len(self.made_of[0])), self.made_of, strict=True)
            for places, counts in map(segment.postings, terms)
        ]
        places = np.concatenate([each for each, _ in found])
        counts = np.concatenate([each for _, each in found]).astype(np.float32)
        if sum(len(each) > 0 for each, _ in found) > 1:
            places, where = np.unique(places, return_inverse=True)
            counts = np.bincount(where, counts).astype(np.float32)
        if (titled := self._titled(terms)).any():
            # The heading of a talk is above all its turns: its words, often names, tell none from another.
            both = (titled[self.groups] & ~self.is_talk).astype(np.float32)
            both[places] += counts
            places = np.flatnonzero(both)
            counts = both[places]
        if len(self) == len(self.numbers):
            return places, counts
        live = self.is_live[places]
        return places[live], counts[live]

    def vectors(self, places: Ints) -> NDArray[np.int8]:
        """The vectors of the passages at these places, which are in order."""
        base, delta = self.made_of
        split = np.searchsorted(places, len(base))
        return np.concatenate(
            [base.rows.vectors[places[:split]], delta.rows.vectors[places[split:] - len(base)]]
        )

    def _links(self) -> Ints:
        """The passage above each; links to what was replaced lead to what took its place."""
        base, delta = self.made_of
        replaced = np.arange(-1, len(base), dtype=np.int32)
        was = base.places_of(delta.rows.numbers)
        replaced[was[was >= 0] + 1] = np.flatnonzero(was >= 0) + len(base)
        inner = delta.places_of(delta.rows.previous)
        outer = base.places_of(delta.rows.previous)
        return np.append(replaced[base.above + 1], np.where(inner >= 0, inner + len(base), outer))

    def _is_talk(self, links: Ints) -> Flags:
        """Whether each group is a talk: most passages begin with a name that began one of those above."""
        led, leads = np.zeros(len(links), np.bool_), np.append(self.leads, np.uint32(0))
        ends, places = np.append(links, np.int32(-1)), links
        for _ in range(_TURNS):
            led |= (places >= 0) & (leads[places] == self.leads)
            places = ends[places]
        count = len(self.all_groups.all)
        members = np.bincount(self.groups[self.is_live], minlength=count)
        are_led = np.bincount(self.groups[led & self.is_live], minlength=count)
        return np.asarray((members >= _TALK_MIN) & (are_led >= _TALK_SHARE * members))


def is_one_of(values: NDArray[np.uint32], terms: Collection[int]) -> Flags:
    """Whether each value is one of a few."""
    found = np.zeros(len(values), np.bool_)
    for term in terms:
        found |= values == np.uint32(term)
    return found
