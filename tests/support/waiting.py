"""Wait for a condition, with a limit."""

import time
from collections.abc import Callable
from typing import TypeVar

DEADLINE_SECONDS = 60
_PAUSE_SECONDS = 0.005

Found = TypeVar("Found")


def until(found: Callable[[], Found]) -> Found:
    """Call again and again until the answer is true."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (answer := found()):
        assert time.monotonic() < deadline, "it did not happen"
        # Without a pause the polling would slow down the process that it waits for.
        time.sleep(_PAUSE_SECONDS)
    return answer
