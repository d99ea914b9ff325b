"""Writes the figures of a run into docs/benchmarks.md, between its markers, and draws its chart."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.chart import draw
from benchmarks.ratios import Ratio, quantile

_DOCS = Path(__file__).parents[1] / "docs"
Figures = dict[str, dict[str, Any]]


def write(results: dict[str, Any], ratios: list[Ratio]) -> None:
    contestants, machine = results["contestants"], results["machine"]
    rounds = len(contestants["garden"]["edit"])
    (_DOCS / "images" / "benchmark.svg").write_text(draw(contestants, rounds), "utf-8")
    page = _DOCS / "benchmarks.md"
    text = page.read_text("utf-8")
    for name, lines in {
        "machine": [
            f"One run of {rounds} rounds on {machine['cores']} cores, Linux {machine['kernel']}, "
            f"Python {machine['python']}, Postgres {machine['postgres']}, {machine['git']}. "
            f"The load average before it was {machine['load']:.1f}. Packages:",
            ", ".join(f"`{row['versions']}`" for row in contestants.values() if row["versions"]) + ".",
        ],
        "times": _times(contestants),
        "crowd": _crowd(contestants),
        "parts": _parts(results["parts"], contestants),
        "bounds": bounds(ratios),
    }.items():
        found = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        body = "\n".join(["", *lines, "", ""])
        text = found.sub(lambda match, body=body: match[1] + body + match[2], text)  # type: ignore[misc]
    page.write_text(text, "utf-8")


def _times(contestants: Figures) -> Iterator[str]:
    yield "| | edit p50 | p95 | p99 | read p50 | p95 | p99 | syncs | Postgres syncs | round trips | timed |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|"
    for row in contestants.values():
        times = [f"{_ms(row[what], share)}" for what in ("edit", "read") for share in (0.5, 0.95, 0.99)]
        cost = row["cost"] or {"syncs": None, "postgres_syncs": None, "round_trips": None}
        yield _line(row["title"], *times, *map(_count, cost.values()), row["timed"])


def _crowd(contestants: Figures) -> Iterator[str]:
    yield "| | sent | acknowledged | of these kept | of these lost |"
    yield "|---|--:|--:|--:|--:|"
    for row in contestants.values():
        if crowd := row.get("crowd"):
            kept = crowd["acknowledged"] - crowd["lost"]
            yield _line(row["title"], crowd["sent"], crowd["acknowledged"], kept, crowd["lost"])


def _parts(parts: dict[str, list[float]], contestants: Figures) -> Iterator[str]:
    yield "| | p50 | p99 |"
    yield "|---|--:|--:|"
    named = [contestants[name] for name in ("garden", "floor", "dbos") if name in contestants]
    cpu = {f"processor time of an edit, {row['title']}": row["cpu"] for row in named}
    for name, samples in {**parts, **cpu}.items():
        yield _line(name, _ms(samples, 0.5), _ms(samples, 0.99))


def bounds(ratios: Iterable[Ratio]) -> Iterator[str]:
    """The lines of a table of measured ratios and their bounds."""
    yield "| | measured | bound | | |"
    yield "|---|--:|--:|---|---|"
    for ratio in ratios:
        bound = f"{'at least' if ratio.more_is_better else 'at most'} {ratio.reach:g}"
        mark = "kept" if ratio.within_reach else "**missed**"
        yield _line(ratio.name, f"{ratio.value:,.2f}", bound, mark, ratio.detail)


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _ms(samples: list[float], share: float) -> str:
    return f"{quantile(samples, share) * 1000:.2f}"


def _count(calls: float | None) -> str:
    return "n/a" if calls is None else f"{calls:.1f}".removesuffix(".0")
