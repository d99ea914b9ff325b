"""The measures of a ranking: all take the places in order, best first, and those that answer the question."""

import math
from collections.abc import Collection, Sequence


def hit_at(count: int, found: Sequence[int], sought: Collection[int]) -> float:
    """1 if an answer is among the first, else 0."""
    return float(any(place in sought for place in found[:count]))


def recall_at(count: int, found: Sequence[int], sought: Collection[int]) -> float:
    """The share of the answers that is among the first."""
    return len(set(found[:count]) & set(sought)) / len(sought)


def reciprocal_rank(found: Sequence[int], sought: Collection[int]) -> float:
    """One divided by the rank of the first answer, 0 without one."""
    return next((1 / rank for rank, place in enumerate(found, 1) if place in sought), 0.0)


def ndcg_at(count: int, found: Sequence[int], sought: Collection[int]) -> float:
    """The discounted gain of the answers among the first, as a share of the best possible one."""
    gain = sum(1 / math.log2(rank + 1) for rank, place in enumerate(found[:count], 1) if place in sought)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(count, len(sought)) + 1))
    return gain / best


def separation(answered: Sequence[float], unanswered: Sequence[float]) -> float:
    """How likely the best score of an answered question is above that of an unanswered one."""
    pairs = [(high > low) + (high == low) / 2 for high in answered for low in unanswered]
    return sum(pairs) / len(pairs)
