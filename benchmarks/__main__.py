"""`make bench`: run all benchmarks, or the named ones, and print each ratio beside its target."""

import importlib
import sys

from benchmarks.ratios import Ratio

MEASUREMENTS = (
    "side_by_side", "grammar", "lint", "start_up", "reading", "events", "writing", "recovery", "http",
)  # fmt: skip


def main(names: list[str]) -> int:
    unknown = set(names) - set(MEASUREMENTS)
    if unknown:
        sys.exit(f"unknown benchmark: {', '.join(sorted(unknown))}; choose from: {', '.join(MEASUREMENTS)}")
    missed = 0
    for name in names or MEASUREMENTS:
        for ratio in importlib.import_module(f"benchmarks.{name}").measure():
            print(_line(ratio), flush=True)
            missed += not ratio.within_reach
    return 1 if missed else 0


def _line(ratio: Ratio) -> str:
    bound = "at least" if ratio.more_is_better else "at most"
    mark = "ok" if ratio.within_reach else "MISSED"
    held = f"{bound:<8} {ratio.reach:<5g} {mark:<7}"
    return f"{ratio.name:<64} {ratio.value:8.2f}   {held} {ratio.detail}".rstrip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
