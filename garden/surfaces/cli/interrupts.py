"""Ctrl-C during a write: the write is finished first."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

_Item = TypeVar("_Item")


@contextmanager
def delay_interrupt() -> Iterator[None]:
    """Delay the first Ctrl-C to the end of the block; a second one is not delayed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted:
            signal.default_int_handler(number, frame)
        interrupted = True
        print("Finishing the current change; press Ctrl-C again to stop at once.", file=sys.stderr)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted:
        raise KeyboardInterrupt


def interrupt_between(items: Iterator[_Item]) -> Iterator[_Item]:
    """Iterate so that Ctrl-C takes effect only between two items."""
    while True:
        with delay_interrupt():
            item = next(items, None)
        if item is None:
            return
        yield item
