"""Measures two things in one run, so that the machine's speed cancels out."""

import statistics
import time
import timeit
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple, TypeVar

Result = TypeVar("Result")


class Ratio(NamedTuple):
    """A measured ratio, its target, and whether more or less is better."""

    name: str
    value: float
    reach: float
    more_is_better: bool = False
    detail: str = ""

    @property
    def within_reach(self) -> bool:
        return self.value >= self.reach if self.more_is_better else self.value <= self.reach


def seconds(work: Callable[[], object], number: int, repeat: int = 7) -> float:
    """Return the best time of one call: the machine undisturbed."""
    return min(timeit.repeat(work, number=number, repeat=repeat)) / number


def quantile(samples: list[float], share: float) -> float:
    """Return the sample below which this share of them lies."""
    ordered = sorted(samples)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def median_seconds(work: Callable[[], object], rounds: int) -> float:
    """Return the median time of one call, after a warm-up: what a user sees."""
    work()
    return statistics.median(once(work) for _ in range(rounds))


def once(work: Callable[[], object]) -> float:
    """Time one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


class Stopwatch:
    """Times taken in turns, so that all share the same disk and load."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, list[float]] = defaultdict(list)

    def take(self, name: str, action: Callable[[], Result]) -> Result:
        started = time.perf_counter()
        result = action()
        self._seconds[name].append(time.perf_counter() - started)
        return result

    def warmed_up(self) -> None:
        self._seconds.clear()

    def median(self, *names: str) -> float:
        """The median, over the rounds, of the sum of these times."""
        rounds = zip(*(self._seconds[name] for name in names), strict=True)
        return float(statistics.median([sum(each) for each in rounds]))

    def ratio(self, title: str, ours: str, *theirs: str, at_most: float, of_which: str = "") -> Ratio:
        dividend, divisor = self.median(ours), self.median(*theirs)
        took = f"{micro(dividend)} / {micro(divisor)} µs{of_which}"
        return Ratio(title, dividend / divisor, at_most, detail=took)


def micro(seconds: float) -> str:
    """Write seconds as microseconds."""
    return f"{seconds * 1e6:.0f}"
