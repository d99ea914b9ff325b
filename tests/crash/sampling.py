"""How much the crash tests do: a sample in `make test`, all of it in `make crash`."""

import os
from collections.abc import Sequence
from typing import TypeVar

FULL = os.environ.get("GARDEN_TEST_CRASH") == "full"
# In a sample each test takes one step of so many, beginning at another one, and the last.
_STRIDE = 8

Item = TypeVar("Item")


def sample(items: Sequence[Item], count: int) -> Sequence[Item]:
    """Return so many of the items, spread evenly; all of them in a full run."""
    return items if FULL else [items[index * len(items) // count] for index in range(count)]


def chosen_steps(count: int, name: str) -> list[int]:
    """Choose steps of a write by the test's name, so that together the tests meet them all."""
    if FULL:
        return list(range(count))
    return sorted({*range(sum(name.encode()) % _STRIDE, count, _STRIDE), count - 1})
