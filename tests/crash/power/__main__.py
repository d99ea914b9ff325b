"""Try power failures on every write, and prove that a missing fsync would be detected.

    python -m tests.crash.power            each operation in each state, and recovery itself
    python -m tests.crash.power --prove    remove each fsync of the product in turn, and expect a finding
    python -m tests.crash.power --trace    compare the recorded effects with what strace sees

Exits with 1 where a check fails.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from garden.application import Garden
from tests.crash.power.harness import Harness, Scenario, Tried
from tests.crash.power.missing_syncs import meeting_places, places, proof
from tests.crash.power.operations import OPERATIONS
from tests.crash.power.processes import Processes, processes_in
from tests.crash.power.strace_check import differences
from tests.crash.power.temporary_garden import temporary_garden


@dataclass
class Sum:
    """Counts for one operation."""

    scenarios: int = 0
    states: int = 0
    tries: int = 0
    broken: list[str] = field(default_factory=list)
    places: Counter[str] = field(default_factory=Counter)

    def add(self, tried: Tried) -> None:
        self.scenarios += 1
        self.states += tried.states
        self.tries += tried.tries
        self.broken += [f"{tried.scenario}: {each}" for each in tried.broken]
        self.places.update(tried.places)


def main() -> int:
    words = argparse.ArgumentParser(
        prog="python -m tests.crash.power",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    words.add_argument("operations", nargs="*", metavar="SORT", help=f"of: {', '.join(OPERATIONS)}")
    words.add_argument("--prove", action="store_true", help="remove each fsync in turn")
    words.add_argument("--trace", action="store_true", help="compare with strace")
    words.add_argument("--shallow", action="store_true", help="skip power failures during recovery")
    words.add_argument("--every", type=int, default=1, help="try every n-th state")
    asked = words.parse_args()
    unknown = set(asked.operations) - set(OPERATIONS)
    if unknown:
        words.error(f"unknown operation: {', '.join(sorted(unknown))}")
    names = asked.operations or list(OPERATIONS)
    with temporary_garden() as garden, processes_in(garden.home.path) as processes:
        if asked.trace:
            return trace(garden, names)
        if asked.prove:
            return prove(garden, processes)
        return try_all(garden, processes, names, every=asked.every, shallow=asked.shallow)


def try_all(garden: Garden, processes: Processes, names: Sequence[str], *, every: int, shallow: bool) -> int:
    began, total = time.monotonic(), Sum()
    for name in names:
        since, one = time.monotonic(), tried(Harness(garden, processes), name, every=every, shallow=shallow)
        seconds = time.monotonic() - since
        print(
            f"{name}: {one.scenarios} scenarios, {one.states} states, {one.tries} recoveries, "
            f"{len(one.broken)} broken, {seconds:.0f} s",
            flush=True,
        )
        for said in one.broken[:10]:
            print(f"  {said}", flush=True)
        total.states += one.states
        total.tries += one.tries
        total.broken += one.broken
    print(
        f"all: {total.states} states, {total.tries} recoveries, {len(total.broken)} broken, "
        f"{time.monotonic() - began:.0f} s"
    )
    return 1 if total.broken else 0


def tried(harness: Harness, name: str, *, every: int, shallow: bool) -> Sum:
    """Try an operation with each way to recover, then power failures during recovery."""
    result = Sum()
    for scenario in [Scenario(OPERATIONS[name])] if shallow else harness.scenarios(OPERATIONS[name]):
        alone = scenario.first is None
        stride = every if shallow or not alone else 1
        result.add(harness.tried(scenario, every=stride, all_recoveries=alone and stride == 1))
    return result


def prove(garden: Garden, processes: Processes) -> int:
    met, unseen = meeting_places(Harness(garden, processes)), 0
    for place in places():
        found = proof(garden, processes, place, met.get(place, []))
        unseen += not found.found
        print(f"{place}\n  {_said(found.scenario, found.found, found.tries)}", flush=True)
    total = len(places())
    missed = f"Removing {unseen} of the {total} fsyncs is NOT detected."
    print(missed if unseen else f"Removing any of the {total} fsyncs is detected.")
    return 1 if unseen else 0


def _said(scenario: str, found: str, tries: int) -> str:
    return f"{scenario}: {found}" if found else f"NOT DETECTED in {tries} tries"


def trace(garden: Garden, names: Sequence[str]) -> int:
    differ = [
        said for number, name in enumerate(names) for said in differences(garden, OPERATIONS[name], number)
    ]
    print("\n".join(differ) or f"strace saw exactly what was recorded, in {len(names)} operations")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
