"""`make bench`: run all benchmarks, or the named ones, and print each ratio beside its target.

`--write` puts the figures of the run into docs/benchmarks.md and draws its chart, which needs `side_by_side`;
after `recall`, with or without `recall_speed`, into docs/recall-quality.md.
"""

import importlib
import json
import sys

from benchmarks.contestants.installing import RESULTS
from benchmarks.page import write
from benchmarks.ratios import Ratio

MEASUREMENTS = (
    "side_by_side", "grammar", "lint", "start_up", "reading", "events", "writing", "recovery", "http",
    "history", "log", "recall", "recall_speed", "toolbelt", "verify", "gateway", "console",
)  # fmt: skip
_WRITE = "--write"


def main(names: list[str]) -> int:
    unknown = set(names) - {*MEASUREMENTS, _WRITE}
    if unknown:
        sys.exit(f"unknown benchmark: {', '.join(sorted(unknown))}; choose from: {', '.join(MEASUREMENTS)}")
    ratios = []
    for name in [name for name in names if name != _WRITE] or MEASUREMENTS:
        for ratio in importlib.import_module(f"benchmarks.{name}").measure():
            print(_line(ratio), flush=True)
            ratios.append(ratio)
    if _WRITE in names and "recall" in names:
        importlib.import_module("benchmarks.recall.page").write(ratios)
    elif _WRITE in names:
        write(json.loads(RESULTS.read_text()), ratios)
    return 0 if all(ratio.within_reach for ratio in ratios) else 1


def _line(ratio: Ratio) -> str:
    bound = "at least" if ratio.more_is_better else "at most"
    mark = "ok" if ratio.within_reach else "MISSED"
    held = f"{bound:<8} {ratio.reach:<5g} {mark:<7}"
    return f"{ratio.name:<64} {ratio.value:8.2f}   {held} {ratio.detail}".rstrip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
