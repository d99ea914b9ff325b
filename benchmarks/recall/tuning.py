"""Looks for better weights, one after the other, by the questions that are not held out.

    python -m benchmarks.recall.tuning dialogue|documents

It prints what it finds; a person rounds the numbers and puts them into garden/recall/weights.toml.
"""

import sys
from statistics import fmean
from typing import Any

from benchmarks.recall.metrics import ndcg_at, recall_at
from benchmarks.recall.rankers import default_embedder, index_of, product, weighted
from benchmarks.recall.sets import all_sets
from garden.recall.ranking import profiles

_FACTORS = (0.0, 0.5, 0.75, 1.3, 1.75)
_GAIN_MIN = 0.0005
_FAMILIES = {
    "dialogue": ("dialogue", "long talk", "mixed"),
    "documents": ("documents", "samples", "generated", "mixed"),
}


def main(profile: str) -> None:
    embedder = default_embedder()
    sets = [each for each in all_sets() if each.family in _FAMILIES[profile]]
    judged = [(each, product(index_of(each.rows, embedder), embedder)) for each in sets]

    def worth(weights: dict[str, Any]) -> float:
        """The mean over the families, so that the largest doesn't decide alone."""
        by_family: dict[str, list[float]] = {}
        with weighted({profile: weights}):
            for each, rank in judged:
                for question in each.questions:
                    if question.evidence and not question.is_held_out:
                        found, sought = rank(question.words).places, question.evidence
                        value = recall_at(10, found, sought) + ndcg_at(10, found, sought) / 4
                        by_family.setdefault(each.family, []).append(value)
        return fmean(map(fmean, by_family.values()))

    weights = dict(profiles()[profile])
    best, gained = worth(weights), True
    print(f"{best:.4f} as shipped", flush=True)
    while gained:
        gained = False
        for name in weights:
            for value in [_scaled(weights[name], factor) for factor in _FACTORS]:
                if (new := worth(weights | {name: value})) > best + _GAIN_MIN:
                    best, gained, weights[name] = new, True, value
                    print(f"{best:.4f} {name} = {value}", flush=True)


def _scaled(value: float | list[float], factor: float) -> float | list[float]:
    """A weight times a factor; neighbours keep their proportion."""
    return (
        [round(each * factor, 3) for each in value] if isinstance(value, list) else round(value * factor, 3)
    )


if __name__ == "__main__":
    main(sys.argv[1])
