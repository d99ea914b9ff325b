"""Measuring two things in one run, so that the machine's mood cancels out."""

import statistics
import time
import timeit
from collections.abc import Callable
from typing import NamedTuple


class Ratio(NamedTuple):
    """A measured ratio, the reach it is held to, and whether more or less of it is better."""

    name: str
    value: float
    reach: float
    more_is_better: bool = False
    detail: str = ""

    @property
    def within_reach(self) -> bool:
        return self.value >= self.reach if self.more_is_better else self.value <= self.reach


def seconds(work: Callable[[], object], number: int, repeat: int = 7) -> float:
    """Take the best time of one call: what the machine can do when nothing else disturbs it."""
    return min(timeit.repeat(work, number=number, repeat=repeat)) / number


def median_seconds(work: Callable[[], object], rounds: int) -> float:
    """Take the median time of one call, after one that warms up: what a user sees."""
    work()
    return statistics.median(once(work) for _ in range(rounds))


def once(work: Callable[[], object]) -> float:
    """Time one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
