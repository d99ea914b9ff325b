"""The live feed: what was settled, and a call whenever there is more.

Notices are only hints; the table is the account. A watcher that is woken reads what there is after its
position, so a notice too many costs a query, and one that is lost is made up for by the next look.
"""

import os
import selectors
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import structlog

from garden.events.database import DatabaseUnavailableError
from garden.events.feed import BATCH_ENTRIES_DEFAULT, Batch, Entry, FeedReader, Notices, listen
from garden.events.pool import Pool

# So often everybody looks, notice or not, and the connection is tried.
EVERYBODY_SECONDS = 30.0
_PAUSE_SECONDS_FIRST = 0.1
_PAUSE_SECONDS_MAX = 5.0

Wake = Callable[[], None]

__all__ = ["Batch", "Entry", "Feed", "Wake"]


class Feed:
    """What was settled in every user's garden, and who wants to know of more.

    A thread with a connection of its own begins with the first watcher, and ends when the feed is closed.
    """

    def __init__(
        self, database_url: str, pool: Pool, *, everybody_seconds: float = EVERYBODY_SECONDS
    ) -> None:
        self._url = database_url
        self._reader = FeedReader(pool)
        self._everybody_seconds = everybody_seconds
        self._lock = threading.Lock()
        self._watchers: dict[str, list[Wake]] = {}
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        # The thread waits for notices and for the end of this pipe, which is not there before the thread is.
        self._stop_seen = self._stop_told = -1

    def since(self, user_id: str, position: str | None, limit: int = BATCH_ENTRIES_DEFAULT) -> Batch:
        """Read what was settled after a position, or from the feed's beginning; not complete, it has more."""
        return self._reader.since(user_id, position, limit)

    def now(self, user_id: str) -> str:
        """Give the position after all that was settled so far, for who wants only what comes."""
        return self._reader.now(user_id)

    @contextmanager
    def watch(self, user_id: str, wake: Wake) -> Iterator[None]:
        """Have a function called, from another thread, whenever this user's feed may have grown.

        It is called at least every half minute, and after the connection was lost and is back. It must not
        block, and may be called once more while the block is being left.
        """
        with self._lock:
            self._watchers.setdefault(user_id, []).append(wake)
            self._start()
        try:
            yield
        finally:
            with self._lock:
                self._watchers[user_id].remove(wake)
                if not self._watchers[user_id]:
                    del self._watchers[user_id]

    def close(self) -> None:
        """Stop listening."""
        with self._lock:
            self._closing.set()
            thread, self._thread = self._thread, None
        if thread is not None:
            os.close(self._stop_told)
            thread.join()
            os.close(self._stop_seen)

    def _start(self) -> None:
        if self._thread is None and not self._closing.is_set():
            self._stop_seen, self._stop_told = os.pipe()
            self._thread = threading.Thread(target=self._listen, name="garden-feed", daemon=True)
            self._thread.start()

    def _listen(self) -> None:
        pause = _PAUSE_SECONDS_FIRST
        while not self._closing.is_set():
            try:
                with listen(self._url) as notices:
                    pause = _PAUSE_SECONDS_FIRST
                    self._follow(notices)
            except DatabaseUnavailableError as error:
                _log("listening to the feed was interrupted", reason=error.message)
            except Exception:  # noqa: BLE001 - the outermost edge of the thread that all watchers share
                _log("listening to the feed failed", exception=traceback.format_exc())
            self._closing.wait(pause)
            pause = min(2 * pause, _PAUSE_SECONDS_MAX)

    def _follow(self, notices: Notices) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(notices, selectors.EVENT_READ)
            selector.register(self._stop_seen, selectors.EVENT_READ)
            # At once, too: what happened before listening began has told nobody here.
            everybody_at = time.monotonic()
            while not self._closing.is_set():
                if time.monotonic() >= everybody_at:
                    notices.check()
                    self._wake(self._watched())
                    everybody_at = time.monotonic() + self._everybody_seconds
                if selector.select(everybody_at - time.monotonic()):
                    self._wake(notices.received())

    def _watched(self) -> list[str]:
        with self._lock:
            return list(self._watchers)

    def _wake(self, user_ids: Iterable[str]) -> None:
        with self._lock:
            wakes = [wake for user_id in user_ids for wake in self._watchers.get(user_id, ())]
        for wake in wakes:
            try:
                wake()
            except Exception:  # noqa: BLE001 - the outermost edge of the thread that all watchers share
                _log("a watcher of the feed failed", exception=traceback.format_exc())


def _log(what: str, **about: str) -> None:
    structlog.get_logger("garden.feed").warning(what, **about)
