"""Judges rankings on all sets: plain BM25, the product's, and the product's without each signal."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from time import perf_counter
from typing import Any, NamedTuple

from benchmarks.ratios import Ratio
from benchmarks.recall.metrics import hit_at, ndcg_at, recall_at, reciprocal_rank, separation
from benchmarks.recall.rankers import Ranker, default_embedder, index_of, plain_bm25, product, weighted
from benchmarks.recall.sets import Question, Set, all_sets

BASELINE, SHIPPED = "plain BM25", "recall"
_SIGNALS: Mapping[str, Mapping[str, Any]] = {
    "embeddings": {"cosine": 0.0},
    "neighbours": {"above": [0.0, 0.0], "below": [0.0]},
    "names": {"lead": 0.0},
    "sections": {"section": 0.0},
    "days": {"day": 0.0},
    "coverage": {"coverage": 0.0},
    "BM25": {"bm25": 0.0},
}
WITHOUT: Mapping[str, Mapping[str, Any]] = {f"without {name}": change for name, change in _SIGNALS.items()}
_ADDED = ("embeddings", "neighbours", "names", "sections", "days")
STEPS: Mapping[str, Mapping[str, Any]] = {
    (f"+ {_ADDED[count - 1]}" if count else "words"): {
        key: value for name in _ADDED[count:] for key, value in _SIGNALS[name].items()
    }
    for count in range(len(_ADDED) + 1)
}
"""The signals one after the other: what is left out at each step."""
_COLUMNS = (
    ("dialogue", "recall@10"), ("dialogue", "hit@10"), ("dialogue", "MRR"), ("dialogue", "nDCG@10"),
    ("dialogue", "sessions hit@5"), ("long talk", "recall@10"), ("documents", "hit@10"), ("documents", "MRR"),
    ("mixed", "hit@10"), ("samples", "hit@10"), ("generated", "hit@10"),
)  # fmt: skip
_BOUNDS = (
    ("dialogue", "natural", "recall@10", 0.78), ("dialogue", "natural", "hit@10", 0.83),
    ("dialogue", "natural", "sessions hit@5", 0.94), ("documents", "", "hit@10", 0.65),
)  # fmt: skip


class Judged(NamedTuple):
    """One question with the measures of its ranking, the best score, and the seconds it took."""

    family: str
    question: Question
    measures: Mapping[str, float]
    best: float
    seconds: float


Results = dict[str, list[Judged]]
RESULTS: Results = {}
"""The results of this process's last run."""


def judge() -> Results:
    """Ask every ranking every question."""
    embedder = default_embedder()
    results: Results = {name: [] for name in (BASELINE, SHIPPED, *WITHOUT, *STEPS)}
    for each in all_sets():
        full = product(index_of(each.rows, embedder), embedder)
        words_only = product(index_of(each.rows, None), None)
        results[BASELINE] += _asked(each, plain_bm25(each.rows))
        results[SHIPPED] += _asked(each, full)
        for name, change in {**WITHOUT, **STEPS}.items():
            with weighted({"dialogue": change, "documents": change}):
                results[name] += _asked(each, words_only if "cosine" in change else full)
    return results


def mean(
    judged: Sequence[Judged], family: str, measure: str, held_out: bool = True, level: str = ""
) -> float:
    """The mean of a measure over a family's questions, held out or tuned on, of one level or of all."""
    return fmean(
        each.measures[measure]
        for each in judged
        if each.family == family
        and each.measures
        and each.question.is_held_out == held_out
        and level in ("", each.question.level)
    )


def hits_by_kind(judged: Sequence[Judged]) -> dict[tuple[str, str], float]:
    """The hits of each kind of question, held out or not, since some kinds are few."""
    kinds: dict[tuple[str, str], list[float]] = {}
    for each in judged:
        if each.measures:
            kind = each.question.level or each.question.kind
            kinds.setdefault((each.family, kind), []).append(each.measures["hit@10"])
    return {kind: fmean(values) for kind, values in kinds.items()}


def milliseconds(judged: Sequence[Judged]) -> float:
    """The median time of a question to the garden of 5,000 passages."""
    return median(each.seconds for each in judged if each.family == "generated") * 1000


def answer_separation(judged: Sequence[Judged]) -> float:
    """How likely a question with an answer gets a better best score than one without."""
    answered, unanswered = (
        [each.best for each in judged if bool(each.measures) == has] for has in (True, False)
    )
    return separation(answered, unanswered)


def table(results: Results) -> Iterator[str]:
    """The measures of each ranking on the questions held out, and of the shipped one on the others."""
    yield row("", *(" ".join(column) for column in _COLUMNS), "ms")
    yield "|---|" + "--:|" * (len(_COLUMNS) + 1)
    for name in (BASELINE, SHIPPED, *WITHOUT):
        means = (f"{mean(results[name], *column):.2f}" for column in _COLUMNS)
        yield row(name, *means, f"{milliseconds(results[name]):.1f}")
    tuned = (f"{mean(results[SHIPPED], *column, held_out=False):.2f}" for column in _COLUMNS)
    yield row("recall, on the half for tuning", *tuned, "")


def row(*cells: object) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def ratios(results: Results) -> list[Ratio]:
    """The measures of the shipped ranking that have a bound, with those of plain BM25 beside them."""
    found = []
    for family, level, measure, bound in _BOUNDS:
        plain, shipped = (mean(results[name], family, measure, level=level) for name in (BASELINE, SHIPPED))
        title = f"recall: {' '.join([family, level]).strip()}, {measure}, held out"
        found.append(Ratio(title, shipped, bound, more_is_better=True, detail=f"plain BM25 {plain:.2f}"))
    return found


def _asked(each: Set, rank: Ranker) -> list[Judged]:
    judged = []
    for question in each.questions:
        started = perf_counter()
        found = rank(question.words)
        took = perf_counter() - started
        judged.append(
            Judged(each.family, question, _measures(each, question, found.places), found.best, took)
        )
    return judged


def _measures(each: Set, question: Question, found: Sequence[int]) -> dict[str, float]:
    sought = question.evidence
    if not sought:
        return {}
    days = list(dict.fromkeys(each.rows[place].day.toordinal() for place in found))
    return {
        "recall@10": recall_at(10, found, sought),
        "hit@10": hit_at(10, found, sought),
        "MRR": reciprocal_rank(found, sought),
        "nDCG@10": ndcg_at(10, found, sought),
        "sessions hit@5": hit_at(5, days, {each.rows[place].day.toordinal() for place in sought}),
    }
