"""Places at which a test may stop, kill or fail whoever passes; nobody is there otherwise."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum

Watcher = Callable[["Failpoint"], None]


class Failpoint(StrEnum):
    """The steps of a write and of a recovery, each named for what has just been done."""

    LOCKED = "locked"
    SETTLED = "settled"
    PLANNED = "planned"
    PREPARED = "prepared"
    BEGUN = "begun"
    KEPT = "kept"
    REPLACED = "replaced"
    WRITTEN = "written"
    SEALED = "sealed"
    HALF_BEGUN = "half_begun"
    HALF_SEALED = "half_sealed"
    STALLED_READ = "stalled_read"
    CONFIRMED = "confirmed"
    COPIED = "copied"
    CLAIMED = "claimed"


_watcher: Watcher | None = None


def reach(step: Failpoint) -> None:
    """Pass a place."""
    if _watcher is not None:
        _watcher(step)


@contextmanager
def watch_failpoints(watcher: Watcher) -> Iterator[None]:
    """Have every passer-by of this process seen, who may be kept waiting or be sent back with an error."""
    global _watcher
    _watcher, before = watcher, _watcher
    try:
        yield
    finally:
        _watcher = before
