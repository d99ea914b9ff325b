"""The ranking: one sum of signals between 0 and 1, weighted by what kind of document a passage is in."""

import math
import tomllib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from garden.passages.words import QueryWord
from garden.recall.days import NamedTime, closeness
from garden.recall.index import Index, is_one_of
from garden.recall.segment import Flags, Floats, Ints

_K1, _B = 0.9, 0.4
# Passages whose vectors are compared in full: the nearest by the signs alone, and the best by words.
_COMPARED = 1000
# A word that begins most of its passages, and not only a few, is the name of a speaker.
_LEADING_SHARE, _LEADING_MIN = 0.5, 8
_EVERYWHERE_SHARE = 0.1
# Among many equal scores, most of them 0, looking for the exact one takes long.
_STEPS = 1000
# Sums of the same numbers in another order differ by less.
_DIGITS = 5
_LEXICAL = ("bm25", "coverage")


class WordMatch(NamedTuple):
    """A word of a question, and the passages that have it; as a name, it is `leading` some of them."""

    word: QueryWord
    places: Ints
    counts: Floats
    idf: float
    leading: Ints


class Wishes(NamedTuple):
    """What narrows or changes the ranking; the weights take the place of those of the profiles."""

    allowed: Flags
    vector: Floats | None = None
    semantic_weight: float | None = None
    lexical_weight: float | None = None
    min_similarity: float | None = None
    time: NamedTime | None = None


class Ranked(NamedTuple):
    """The best passages, best first: their places, scores, and the signals that `combined` is the sum of."""

    places: Ints
    lexical: Floats
    cosines: Floats
    combined: Floats
    signals: Mapping[str, Floats]


@cache
def profiles() -> Mapping[str, Any]:
    """The weights of each profile, and the embedder that they were found with."""
    return tomllib.loads(resources.files("garden.recall").joinpath("weights.toml").read_text("utf-8"))


def matches_of(index: Index, words: Sequence[QueryWord], owner: Collection[str] = ()) -> list[WordMatch]:
    """Where the words of a question are found, without stop words unless there are no others.

    The owner's name tells no passages of the garden apart, so it counts only as the name of a speaker.
    """
    content = [each for each in words if not each.is_stop] or words
    matches = [_match(index, word) for word in dict.fromkeys(content)]
    spoken = [each._replace(idf=0.0) if each.word.text in owner else each for each in matches]
    return spoken if any(each.idf for each in spoken) else matches


def sought_text(index: Index, matches: Sequence[WordMatch]) -> str:
    """The words that say most: no names of speakers, and none that is everywhere."""
    many = _EVERYWHERE_SHARE * len(index)
    rare = [each for each in matches if len(each.places) <= many and not len(each.leading) and each.idf]
    return " ".join(each.word.text for each in rare or matches)


def ranked(index: Index, matches: Sequence[WordMatch], wishes: Wishes, limit: int) -> Ranked:
    """The best passages for a question; of equal ones, those with the lower number come first."""
    weights = _Weights(index, wishes)
    words = {name: weights[name] * signal for name, signal in _lexical(index, matches, wishes).items()}
    lexical = sum(words.values(), np.zeros(len(index.numbers), np.float32))
    cosines, nearness = _cosines(index, lexical, wishes)
    if len(index.waiting) and nearness.any():
        # Until it has its vector, a passage counts as near in meaning as in its words.
        nearness = np.where(index.embedded, nearness, lexical)
    signals = {"cosine": weights["cosine"] * nearness}
    base = weights["lexical"] * lexical + signals["cosine"]
    signals["neighbours"] = _lent(index, base, weights)
    signals["lead"] = weights["lead"] * _spoken(index, matches)
    score = base + signals["neighbours"] + signals["lead"]
    if wishes.time:
        signals["day"] = weights["day"] * closeness(wishes.time, index.days)
        score += signals["day"]
    allowed = wishes.allowed & (score > 0)
    if wishes.min_similarity is not None:
        allowed &= np.nan_to_num(cosines, nan=-1) >= wishes.min_similarity
    places = np.flatnonzero(allowed & (score >= _nth_best(score * allowed, _COMPARED)))
    parts = {name: signal[places] * weights["lexical"][places] for name, signal in words.items()}
    parts |= {name: signal[places] for name, signal in signals.items()}
    parts["section"] = weights["section"][places] * _best_of_run(index, base, places)
    combined = sum(parts.values(), np.zeros(len(places), np.float32))
    best = np.lexsort((index.numbers[places], -combined.round(_DIGITS)))[:limit]
    return Ranked(
        places[best].astype(np.int32),
        lexical[places][best].clip(max=1),
        cosines[places][best],
        combined[best].clip(max=1),
        {name: part[best] for name, part in parts.items()},
    )


class _Weights:
    """The weight of each signal for each passage; those of words are shares of the weight `lexical`."""

    def __init__(self, index: Index, wishes: Wishes) -> None:
        self._is_talk, self._has_talk = index.is_talk, index.is_talk.any()
        self._talk, self._other = _profile("dialogue", wishes), _profile("documents", wishes)

    def __getitem__(self, name: str) -> Floats:
        return self._of(self._talk[name], self._other[name])

    def lent(self, side: str) -> list[Floats]:
        """The shares that the neighbours on one side lend, nearest first."""
        pairs = zip(self._talk[side], self._other[side], strict=True)
        return [self._of(talk, other) for talk, other in pairs]

    def _of(self, talk: float, other: float) -> Floats:
        if not self._has_talk:
            return np.broadcast_to(np.float32(other), self._is_talk.shape)
        return np.where(self._is_talk, np.float32(talk), np.float32(other))


def _profile(name: str, wishes: Wishes) -> Mapping[str, Any]:
    given = profiles()[name]
    words = sum(given[each] for each in _LEXICAL)
    lexical = words if wishes.lexical_weight is None else wishes.lexical_weight
    cosine = given["cosine"] if wishes.semantic_weight is None else wishes.semantic_weight
    lent = 1 + sum(given["above"]) + sum(given["below"]) + given["section"]
    beside = {each: given[each] for each in ("lead", "day") if each == "lead" or wishes.time}
    total = ((lexical + cosine) * lent + sum(beside.values()) or 1.0) / given["scale"]
    shares = {"lexical": lexical, "cosine": cosine, **beside}
    of_words = {each: given[each] / words for each in _LEXICAL}
    return {**given, **of_words, **{each: weight / total for each, weight in shares.items()}}


def _match(index: Index, word: QueryWord) -> WordMatch:
    places, counts = index.postings(word.hashes)
    idf = math.log1p((len(index) - len(places) + 0.5) / (len(places) + 0.5))
    leading = places[is_one_of(index.leads[places], word.hashes)]
    is_name = len(leading) >= max(_LEADING_MIN, _LEADING_SHARE * len(places))
    return WordMatch(word, places, counts, idf, leading if is_name else leading[:0])


def _lexical(index: Index, matches: Sequence[WordMatch], wishes: Wishes) -> dict[str, Floats]:
    bm25, coverage = (np.zeros(len(index.numbers), np.float32) for _ in range(2))
    mass = sum(match.idf for match in matches if len(match.places)) or 1.0
    damping = index.relative_lengths * np.float32(_K1 * _B) + np.float32(_K1 * (1 - _B))
    for match in matches:
        damped = match.counts + damping[match.places]
        bm25[match.places] += match.counts * np.float32(match.idf * (_K1 + 1)) / damped
        coverage[match.places] += np.float32(match.idf / mass)
    return {"bm25": _scaled(bm25, wishes.allowed), "coverage": coverage}


def _cosines(index: Index, lexical: Floats, wishes: Wishes) -> tuple[Floats, Floats]:
    """The cosine of each passage that was compared, and a signal: for others it is guessed from the signs."""
    cosines = np.full(len(index.numbers), np.nan, np.float32)
    usable = index.embedded & wishes.allowed
    if wishes.vector is None or not usable.any():
        return cosines, np.zeros_like(cosines)
    vector = wishes.vector / (np.linalg.norm(wishes.vector) or 1.0)
    distances = index.distances(vector)
    near = np.searchsorted(np.cumsum(np.bincount(distances[usable])), _COMPARED)
    worth = lexical >= max(_nth_best(lexical * usable, _COMPARED), 1e-6)
    places = np.flatnonzero(usable & ((distances <= near) | worth))
    vectors = index.vectors(places).astype(np.float32)
    # Threads of a product of matrices would wait for one another longer than this takes.
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors)).clip(min=1)
    cosines[places] = np.einsum("ij,j->i", vectors, vector) / lengths
    guesses = np.cos(np.pi / len(vector) * np.arange(len(vector) + 1)).clip(min=0).astype(np.float32)
    nearness = guesses.take(distances)
    nearness[places] = cosines[places].clip(min=0)
    return cosines, _scaled(nearness * index.embedded, wishes.allowed)


def _lent(index: Index, base: Floats, weights: _Weights) -> Floats:
    lent, padded = np.zeros_like(base), np.append(base, np.float32(0))
    for side, links in (("above", index.above), ("below", index.below)):
        ends, places, shares = np.append(links, np.int32(-1)), links, weights.lent(side)
        for share in shares if any(share.any() for share in shares) else ():
            lent += share * padded[places]
            places = ends[places]
    return lent


def _spoken(index: Index, matches: Sequence[WordMatch]) -> Floats:
    spoken = np.zeros(len(index.numbers), np.float32)
    for match in matches:
        spoken[match.leading] = 1
    return spoken


def _best_of_run(index: Index, base: Floats, places: Ints) -> Floats:
    _, runs = np.unique(index.runs(places), return_inverse=True)
    best = np.zeros(len(places), np.float32)
    np.maximum.at(best, runs, base[places])
    return best[runs]


def _scaled(signal: Floats, allowed: Flags) -> Floats:
    most = (signal * allowed).max(initial=0)
    scaled: Floats = signal / (most or np.float32(1))
    scaled[scaled > 1] = 1
    return scaled


def _nth_best(values: Floats, count: int) -> float:
    """A value that about so many reach, or some more; all reach 0."""
    most = float(values.max(initial=0))
    if len(values) <= count or most <= 0:
        return 0.0
    steps = np.bincount((values * (_STEPS / most)).astype(np.int64))
    return float(_STEPS - np.searchsorted(np.cumsum(steps[::-1]), count)) / _STEPS * most
