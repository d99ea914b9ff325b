"""What a measurement is, and how it is taken."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """One figure: how many times something costs what something else does, and how many it may at most."""

    name: str
    value: float
    at_most: float
    detail: str = ""

    @property
    def holds(self) -> bool:
        return self.value <= self.at_most


def seconds(action: Callable[[], object]) -> float:
    """Time one run."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def median_seconds(action: Callable[[], object], rounds: int) -> float:
    """Take the median of several runs, after one that warms up."""
    action()
    return statistics.median(seconds(action) for _ in range(rounds))
