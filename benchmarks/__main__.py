"""`make bench`: run every measurement, or those named, and show each ratio beside its bound."""

import importlib
import sys

from benchmarks.harness import Ratio

MEASUREMENTS = ("start_up", "events")


def main(names: list[str]) -> None:
    unknown = set(names) - set(MEASUREMENTS)
    if unknown:
        sys.exit(f"no measurement named {', '.join(sorted(unknown))}; there are: {', '.join(MEASUREMENTS)}")
    for name in names or MEASUREMENTS:
        print(f"\n{name}")
        for ratio in importlib.import_module(f"benchmarks.{name}").measure():
            print(_line(ratio), flush=True)


def _line(ratio: Ratio) -> str:
    verdict = "" if ratio.holds else "  over the bound"
    return f"  {ratio.name:<56} {ratio.value:8.3f}  at most {ratio.at_most:<6g} {ratio.detail}{verdict}"


if __name__ == "__main__":
    main(sys.argv[1:])
