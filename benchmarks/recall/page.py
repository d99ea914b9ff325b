"""Writes the figures of a run into docs/recall-quality.md, between its markers, and draws its plot."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.page import bounds
from benchmarks.ratios import Ratio
from benchmarks.recall import judging
from benchmarks.recall.judging import BASELINE, RESULTS, SHIPPED, mean, milliseconds, row

_DOCS = Path(__file__).parents[2] / "docs"
_PANELS = (("dialogue", "recall@10"), ("documents", "hit@10"))
_WIDTH, _HEIGHT, _TOP, _LABEL = 300, 260, 60, 16
_STYLE = """\
text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: #1f2a25 } .back { fill: #ffffff }
.grid { stroke: #e2e7e4; fill: none } .path { stroke: #9aa7b3; fill: none } .point { fill: #2f8f66 }
.heading { font-size: 15px; font-weight: 600 } .small { font-size: 11px; fill: #66736c }
.end { text-anchor: end }
@media (prefers-color-scheme: dark) {
  text { fill: #e4eae6 } .back { fill: #161b19 } .grid { stroke: #2d3632 }
  .small { fill: #9aa8a0 } .point { fill: #4fb98a }
}"""


def write(ratios: Sequence[Ratio]) -> None:
    """Write the page and the plot of this process's run."""
    (_DOCS / "images" / "recall.svg").write_text(_plot(), "utf-8")
    page = _DOCS / "recall-quality.md"
    text = page.read_text("utf-8")
    tables = {"sets": _sets(), "quality": judging.table(RESULTS), "kinds": _kinds()}
    for name, lines in {**tables, "bounds": bounds(ratios)}.items():
        body = "\n".join(["", *lines, "", ""])
        text = re.sub(
            f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", rf"\g<1>{body}\g<2>", text, flags=re.DOTALL
        )
    page.write_text(text, "utf-8")


def _sets() -> Iterator[str]:
    yield "| | questions | held out | without an answer |"
    yield "|---|--:|--:|--:|"
    asked = RESULTS[SHIPPED]
    for family, count in Counter(each.family for each in asked).items():
        own = [each for each in asked if each.family == family]
        held_out, unanswered = (
            sum(each.question.is_held_out for each in own),
            sum(not each.measures for each in own),
        )
        yield row(family, count, held_out, unanswered)


def _kinds() -> Iterator[str]:
    yield row("", "", BASELINE, SHIPPED)
    yield "|---|---|--:|--:|"
    before = judging.hits_by_kind(RESULTS[BASELINE])
    for (family, kind), value in judging.hits_by_kind(RESULTS[SHIPPED]).items():
        yield row(family, kind, f"{before[family, kind]:.2f}", f"{value:.2f}")
    scores = (f"{judging.answer_separation(RESULTS[name]):.2f}" for name in (BASELINE, SHIPPED))
    yield row("all", "questions with and without an answer, separated by the best score", *scores)


def _plot() -> str:
    width, height = 2 * (_WIDTH + 150) + 20, _TOP + _HEIGHT + 60
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        ' aria-labelledby="title">',
        '<title id="title">Quality of recall against the time of a question, signal by signal</title>',
        f'<style>{_STYLE}</style><rect class="back" width="{width}" height="{height}" rx="8"/>',
    ]
    names = (BASELINE, *judging.STEPS)
    for number, (family, measure) in enumerate(_PANELS):
        points = [(name, milliseconds(RESULTS[name]), mean(RESULTS[name], family, measure)) for name in names]
        parts += _panel(50 + number * (_WIDTH + 150), f"{family}, {measure}", points)
    foot = "Milliseconds of a question to 5,000 passages, median; questions held out."
    return "\n".join([*parts, f'<text class="small" x="50" y="{height - 14}">{foot}</text></svg>']) + "\n"


def _panel(left: float, title: str, points: Sequence[tuple[str, float, float]]) -> Iterator[str]:
    longest = 1 + int(max(time for _, time, _ in points))
    bottom = _TOP + _HEIGHT
    yield f'<text class="heading" x="{left}" y="32">{title}</text>'
    for share in (0, 0.25, 0.5, 0.75, 1):
        y, x = bottom - share * _HEIGHT, left + share * _WIDTH
        yield f'<path class="grid" d="M{left} {y}h{_WIDTH}"/>'
        yield f'<text class="small end" x="{left - 6}" y="{y + 4}">{share:g}</text>'
        yield f'<text class="small" x="{x}" y="{bottom + 18}">{share * longest:g}</text>'
    places = [(left + time / longest * _WIDTH, bottom - value * _HEIGHT) for _, time, value in points]
    yield f'<path class="path" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in places)}"/>'
    label_y = float(bottom + _LABEL)
    for (name, _, value), (x, y) in sorted(zip(points, places, strict=True), key=lambda each: -each[1][1]):
        label_y = min(y + 4, label_y - _LABEL)
        yield f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        yield f'<text x="{left + _WIDTH + 8}" y="{label_y:.1f}">{name} {value:.2f}</text>'
