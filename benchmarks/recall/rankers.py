"""What is compared: the ranking of the product, also without single signals, and plain BM25."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from garden.events.passages import PassageRow
from garden.home.settings import Settings
from garden.passages.words import query_words
from garden.recall.days import named_time
from garden.recall.embedders import Embedder, load_embedder
from garden.recall.embedders.vectors import quantize
from garden.recall.index import Groups, Index
from garden.recall.ranking import Wishes, matches_of, profiles, ranked, sought_text
from garden.recall.recall import embedded_text
from tests.support.index_rows import rows_of_passages

FOUND_MAX = 100
_K1, _B = 0.9, 0.4
Weights = Mapping[str, Mapping[str, Any]]


class Found(NamedTuple):
    """The places of passages, best first, and the score of the best."""

    places: list[int]
    best: float


Ranker = Callable[[str], Found]


def plain_bm25(rows: Sequence[PassageRow]) -> Ranker:
    """BM25 over the stems of the texts alone: no list of stop words, no headings, no neighbours."""
    words = [np.frombuffer(row.words, "<u4") for row in rows]
    lengths = np.array([len(each) for each in words]) / np.mean([len(each) for each in words])
    postings: dict[int, list[tuple[int, int]]] = {}
    for place, each in enumerate(words):
        for word, count in Counter(each.tolist()).items():
            postings.setdefault(word, []).append((place, count))
    languages = {row.language for row in rows}

    def rank(question: str) -> Found:
        scores = np.zeros(len(rows))
        for sought in query_words(question, languages):
            found = Counter[int]()
            for word in sought.hashes:
                found.update(dict(postings.get(word, ())))
            idf = math.log1p((len(rows) - len(found) + 0.5) / (len(found) + 0.5))
            for place, count in found.items():
                scores[place] += idf * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * lengths[place]))
        order = np.argsort(-scores, kind="stable")[:FOUND_MAX]
        return Found(order[scores[order] > 0].tolist(), float(scores.max()))

    return rank


def index_of(rows: Sequence[PassageRow], embedder: Embedder | None) -> Index:
    """The product's index of these passages."""
    groups = Groups()
    if embedder:
        vectors = quantize(embedder.embed([embedded_text(row.text, row.path, row.heading) for row in rows]))
    else:
        vectors = np.zeros((len(rows), 0), np.int8)
    return Index.of(rows_of_passages(rows, groups.number_of, vectors), groups)


def default_embedder() -> Embedder:
    """The embedder that a garden has without any settings."""
    return load_embedder(Settings())


def product(index: Index, embedder: Embedder | None) -> Ranker:
    """The ranking of `memory.recall`, without a database."""
    owner = index.all_groups.all[0].path.split("/")[1].split("-")

    def rank(question: str) -> Found:
        matches = matches_of(index, query_words(question, index.languages), owner)
        vector = embedder.embed([sought_text(index, matches)])[0] if embedder else None
        best = ranked(index, matches, Wishes(index.is_live, vector, time=named_time(question)), FOUND_MAX)
        return Found(best.places.tolist(), float(best.combined[0]) if len(best.places) else 0.0)

    return rank


@contextmanager
def weighted(changes: Weights) -> Iterator[None]:
    """Rank with other weights for a while."""
    kept = {name: dict(profiles()[name]) for name in changes}
    for name, weights in changes.items():
        profiles()[name].update(weights)
    try:
        yield
    finally:
        for name, weights in kept.items():
            profiles()[name].update(weights)
