"""Waiting for what is to happen, and for no longer than anybody would."""

import time
from collections.abc import Callable
from typing import TypeVar

DEADLINE_SECONDS = 60
_PAUSE_SECONDS = 0.005

Found = TypeVar("Found")


def until(found: Callable[[], Found]) -> Found:
    """Ask again and again, until there is an answer that says something."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (answer := found()):
        assert time.monotonic() < deadline, "it did not happen"
        # Who asks without a pause keeps those busy who are to bring it about.
        time.sleep(_PAUSE_SECONDS)
    return answer
