"""Tries power failures on every sort of write, and shows that a missing sync would be seen.

    python -m tests.crash.power            each sort of write in each state, and recovery itself
    python -m tests.crash.power --prove    leaves out each sync of the product in turn, and wants a complaint
    python -m tests.crash.power --trace    compares what is recorded with what strace sees

Ends with 1 where something does not hold.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from garden.application import Garden
from tests.crash.power.ground import throw_away_garden
from tests.crash.power.harness import Harness, Scenario, Tried
from tests.crash.power.lives import Lives, lives_in
from tests.crash.power.proving import meeting_places, places, proof
from tests.crash.power.sorts import SORTS
from tests.crash.power.tracing import missed


@dataclass
class Sum:
    """What came of one sort of write."""

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
    words.add_argument("sorts", nargs="*", metavar="SORT", help=f"of: {', '.join(SORTS)}")
    words.add_argument("--prove", action="store_true", help="leave out each sync")
    words.add_argument("--trace", action="store_true", help="compare with strace")
    words.add_argument("--shallow", action="store_true", help="leave out failures of recovery itself")
    words.add_argument("--every", type=int, default=1, help="of the states of recovery, try every so-manieth")
    asked = words.parse_args()
    unknown = set(asked.sorts) - set(SORTS)
    if unknown:
        words.error(f"there is no sort {', '.join(sorted(unknown))}")
    names = asked.sorts or list(SORTS)
    with throw_away_garden() as garden, lives_in(garden.home.path) as lives:
        if asked.trace:
            return trace(garden, names)
        if asked.prove:
            return prove(garden, lives)
        return try_all(garden, lives, names, every=asked.every, shallow=asked.shallow)


def try_all(garden: Garden, lives: Lives, names: Sequence[str], *, every: int, shallow: bool) -> int:
    began, total = time.monotonic(), Sum()
    for name in names:
        since, one = time.monotonic(), tried(Harness(garden, lives), name, every=every, shallow=shallow)
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
    """Try a sort of write with each recovery, and then its recovery with one of them in turn."""
    result = Sum()
    for scenario in [Scenario(SORTS[name])] if shallow else harness.scenarios(SORTS[name]):
        alone = scenario.first is None
        result.add(harness.tried(scenario, every=1 if alone else every, all_recoveries=alone))
    return result


def prove(garden: Garden, lives: Lives) -> int:
    met, unseen = meeting_places(Harness(garden, lives)), 0
    for place in places():
        found = proof(garden, lives, place, met.get(place, []))
        unseen += not found.found
        print(f"{place}\n  {_said(found.scenario, found.found, found.tries)}", flush=True)
    print(f"all: {len(places())} syncs, {unseen} that nobody would miss")
    return 1 if unseen else 0


def _said(scenario: str, found: str, tries: int) -> str:
    return f"{scenario}: {found}" if found else f"NOT SEEN in {tries} tries"


def trace(garden: Garden, names: Sequence[str]) -> int:
    differ = [said for number, name in enumerate(names) for said in missed(garden, SORTS[name], number)]
    print(
        "\n".join(differ) or f"strace saw in {len(names)} sorts of write what was recorded, and nothing else"
    )
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
