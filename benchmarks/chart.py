"""Draws docs/images/benchmark.svg: bars to the median and lines to the 99th percentile, logarithmic."""

import math
from collections.abc import Iterator
from html import escape
from typing import Any, NamedTuple

from benchmarks.ratios import quantile

_ROW, _TOP, _LABELS, _GAP, _MARGIN = 36, 84, 270, 104, 24
_STYLE = """\
text { font: 13px system-ui, "DejaVu Sans", sans-serif; fill: #1f2a25 }
.back { fill: #ffffff } .grid { stroke: #e2e7e4 } .small { font-size: 11px; fill: #66736c }
.heading { font-size: 15px; font-weight: 600 } .own { fill: #2f8f66 } .other { fill: #9aa7b3 }
.line { stroke: #1f2a25; stroke-width: 1.5; fill: none }
.end { text-anchor: end } .middle { text-anchor: middle }
@media (prefers-color-scheme: dark) {
  text { fill: #e4eae6 } .back { fill: #161b19 } .grid { stroke: #2d3632 } .small { fill: #9aa8a0 }
  .own { fill: #4fb98a } .other { fill: #66737f } .line { stroke: #e4eae6 }
}"""


class _Panel(NamedTuple):
    """One scale from `low` to `high` powers of ten of a millisecond."""

    what: str
    title: str
    left: float
    width: float
    low: int
    high: int

    def x(self, milliseconds: float) -> float:
        share = (math.log10(milliseconds) - self.low) / (self.high - self.low)
        return self.left + max(0.0, share) * self.width


def draw(contestants: dict[str, dict[str, Any]], rounds: int) -> str:
    """Return the chart of a run; the fastest of each group comes first."""
    rows = sorted(contestants.items(), key=lambda row: (not _is_own(row[0]), quantile(row[1]["edit"], 0.5)))
    edit = _panel("edit", "Edit a section", _MARGIN + _LABELS, 330, contestants)
    read = _panel("read", "Read it back", edit.left + edit.width + _GAP, 210, contestants)
    width, height = read.left + read.width + 60, _TOP + _ROW * len(rows) + 46
    foot = f"Milliseconds, logarithmic. Bar: the median of {rounds} rounds. Line: to the 99th percentile."
    best = ", ".join(f"{row['title']} {_number(_ms(row, 'edit', 0.5))} ms" for _, row in rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" role="img"'
        ' aria-labelledby="title desc">',
        '<title id="title">Editing a section and reading it back, side by side</title>',
        f'<desc id="desc">Medians of an edit: {escape(best)}.</desc>',
        f'<style>{_STYLE}</style><rect class="back" width="{width:g}" height="{height}" rx="8"/>',
        *(line for panel in (edit, read) for line in _axis(panel, len(rows))),
    ]
    for number, (name, row) in enumerate(rows):
        y = _TOP + number * _ROW
        parts.append(f'<text x="{_MARGIN}" y="{y + 14}">{escape(row["title"])}</text>')
        parts.append(f'<text class="small" x="{_MARGIN}" y="{y + 28}">{escape(row["does"])}</text>')
        parts += [_bar(panel, row, y, _is_own(name)) for panel in (edit, read)]
    parts.append(f'<text class="small" x="{_MARGIN}" y="{height - 14}">{foot}</text></svg>')
    return "\n".join(parts) + "\n"


def _panel(what: str, title: str, left: float, width: float, rows: dict[str, dict[str, Any]]) -> _Panel:
    low = math.floor(math.log10(min(_ms(row, what, 0.5) for row in rows.values())))
    high = math.ceil(math.log10(max(_ms(row, what, 0.99) for row in rows.values())))
    return _Panel(what, title, left, width, low, max(high, low + 1))


def _axis(panel: _Panel, rows: int) -> Iterator[str]:
    yield f'<text class="heading" x="{panel.left:g}" y="34">{panel.title}</text>'
    for power in range(panel.low, panel.high + 1):
        x, bottom = panel.x(10.0**power), _TOP + rows * _ROW
        yield f'<path class="grid" d="M{x:.1f} {_TOP - 12}V{bottom}"/>'
        yield f'<text class="small middle" x="{x:.1f}" y="{_TOP - 18}">{10.0**power:g}</text>'


def _bar(panel: _Panel, row: dict[str, Any], y: float, own: bool) -> str:
    median, worst = (_ms(row, panel.what, share) for share in (0.5, 0.99))
    start, x, end, middle = panel.left, panel.x(median), panel.x(worst), y + 15
    kind = "own" if own else "other"
    return (
        f'<rect class="{kind}" x="{start:g}" y="{y + 6}" width="{x - start:.1f}" height="18" rx="2"/>'
        f'<path class="line" d="M{x:.1f} {middle}H{end:.1f}M{end:.1f} {middle - 4}v8"/>'
        f'<text class="end" x="{start - 8:g}" y="{middle + 4}">{_number(median)}</text>'
        f'<text class="small" x="{end + 6:.1f}" y="{middle + 4}">{_number(worst)}</text>'
    )


def _is_own(name: str) -> bool:
    return name.startswith("garden")


def _ms(row: dict[str, Any], what: str, share: float) -> float:
    return quantile(row[what], share) * 1000


def _number(milliseconds: float) -> str:
    decimals = 2 if milliseconds < 1 else 1 if milliseconds < 100 else 0
    return f"{milliseconds:.{decimals}f}"
