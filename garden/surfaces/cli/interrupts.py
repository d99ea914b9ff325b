"""Ctrl-C while something is being written: it waits until that has come to its end."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Thing = TypeVar("Thing")


@contextmanager
def finishing() -> Iterator[None]:
    """Put the first Ctrl-C off to the end of what is done inside; a second one is not put off."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            signal.default_int_handler(number, frame)
        asked = True
        print("Finishing what was begun; Ctrl-C again stops at once.", file=sys.stderr)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:
        raise KeyboardInterrupt


def one_by_one(things: Iterator[Thing]) -> Iterator[Thing]:
    """Have things made one after the other; Ctrl-C waits for the one that is being made."""
    while True:
        with finishing():
            thing = next(things, None)
        if thing is None:
            return
        yield thing
