"""Run every benchmark and print its ratios; the exit status says whether all are within reach."""

import sys

from benchmarks import grammar, lint


def main() -> int:
    missed = 0
    for ratio in (*grammar.measure(), *lint.measure()):
        mark = "ok" if ratio.within_reach else "MISSED"
        bound = "at least" if ratio.more_is_better else "at most"
        print(f"{ratio.name:<64} {ratio.value:8.2f}   {bound} {ratio.reach:g}   {mark}")
        missed += not ratio.within_reach
    return 1 if missed else 0


sys.exit(main())
