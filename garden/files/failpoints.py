"""Failpoints: places in a write where a test may pause, kill or fail the process."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum

Watcher = Callable[["Failpoint"], None]


class Failpoint(StrEnum):
    """The steps of a write and of its recovery, each named after the step just done."""

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
    ROLLED_FORWARD = "rolled_forward"
    CONFIRMED = "confirmed"
    COPIED = "copied"
    CLAIMED = "claimed"
    ERASURE_BEGUN = "erasure_begun"
    COPIES_ERASED = "copies_erased"
    EVENTS_ERASED = "events_erased"
    DOCUMENTS_ERASED = "documents_erased"
    NOTES_ERASED = "notes_erased"
    LEAVES_NUMBERED = "leaves_numbered"
    TILES_WRITTEN = "tiles_written"
    CHECKPOINT_STORED = "checkpoint_stored"
    DOCUMENT_VERIFIED = "document_verified"


_watcher: Watcher | None = None


def reach(failpoint: Failpoint) -> None:
    """Call the watcher, if a test has set one."""
    if _watcher is not None:
        _watcher(failpoint)


@contextmanager
def watch_failpoints(watcher: Watcher) -> Iterator[None]:
    """Call `watcher` at every failpoint of this process; it may block, or raise an error."""
    global _watcher
    _watcher, before = watcher, _watcher
    try:
        yield
    finally:
        _watcher = before
