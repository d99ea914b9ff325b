"""Being told to stop, by SIGTERM or Ctrl-C."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def told_to_stop(tell: Callable[[], None]) -> Iterator[None]:
    """Have a function called when the process is told to stop; told a second time, it ends at once.

    The function is called between any two steps of the main thread, so it may do little more than put
    something into a `SimpleQueue`.
    """

    def told(_number: int, _frame: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        tell()

    before = {each: signal.signal(each, told) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
