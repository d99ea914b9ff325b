"""The live feed: settled events by user, and a wake-up whenever there may be more.

Notices are only hints; the events table is the truth. A watcher that wakes up reads from its own position on,
so a notice too many costs one query, and the next look makes up for a lost one.
"""

import asyncio
import os
import selectors
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import TypeVar

from garden.events.database import DatabaseUnavailableError
from garden.events.feed import BATCH_ENTRIES_DEFAULT, Batch, Entry, FeedReader, Notices, listen
from garden.events.pool import Pool
from garden.grammar.errors import GardenError
from garden.home.logs import get_logger

# Every watcher is woken this often, notice or not, and the connection is tried.
WAKE_ALL_SECONDS = 30.0
_PAUSE_SECONDS_FIRST = 0.1
_PAUSE_SECONDS_MAX = 5.0
_RETRY_SECONDS = 1.0
_FOLLOWER_THREADS = 2

Wake = Callable[[], object]
_Result = TypeVar("_Result")

__all__ = ["Batch", "Entry", "Feed", "Follower", "Wake"]


class Feed(FeedReader):
    """Settled events of all users, and the watchers who wait for more.

    The first watcher starts a thread with a connection of its own; `close` ends it.
    """

    def __init__(self, database_url: str, pool: Pool, *, wake_all_seconds: float = WAKE_ALL_SECONDS) -> None:
        super().__init__(pool)
        self._url = database_url
        self._wake_all_seconds = wake_all_seconds
        self._lock = threading.Lock()
        self._watchers: dict[str, list[tuple[Wake, Wake]]] = {}
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        # A pipe wakes the listening thread when the feed closes; both ends are made with the thread.
        self._stop_reader = self._stop_writer = -1
        # Followers have threads of their own, so that calls never wait behind them.
        self.threads = ThreadPoolExecutor(_FOLLOWER_THREADS, thread_name_prefix="garden-follower")

    @contextmanager
    def watch(self, user_id: str, wake: Wake, look: Wake | None = None) -> Iterator[None]:
        """Call `wake` from another thread whenever this user's feed may have grown.

        It is called after a lost connection is back, too, and `look`, or else `wake`, every half minute. They
        must not block, and may be called once more while the block is being left.
        """
        watcher = (wake, look or wake)
        with self._lock:
            self._watchers.setdefault(user_id, []).append(watcher)
            self._start()
        try:
            yield
        finally:
            with self._lock:
                self._watchers[user_id].remove(watcher)
                if not self._watchers[user_id]:
                    del self._watchers[user_id]

    def close(self) -> None:
        """Stop listening."""
        with self._lock:
            self._closing.set()
            thread, self._thread = self._thread, None
        if thread is not None:
            os.close(self._stop_writer)
            thread.join()
            os.close(self._stop_reader)
        self.threads.shutdown()

    def _start(self) -> None:
        if self._thread is None and not self._closing.is_set():
            self._stop_reader, self._stop_writer = os.pipe()
            self._thread = threading.Thread(target=self._listen, name="garden-feed", daemon=True)
            self._thread.start()

    def _listen(self) -> None:
        pause = _PAUSE_SECONDS_FIRST
        while not self._closing.is_set():
            try:
                with listen(self._url) as notices:
                    pause = _PAUSE_SECONDS_FIRST
                    self._pass_on(notices)
            except DatabaseUnavailableError as error:
                _log("listening to the feed was interrupted", reason=error.message)
            except Exception:  # noqa: BLE001 - the outermost edge of the thread that all watchers share
                _log("listening to the feed failed", exception=traceback.format_exc())
            self._closing.wait(pause)
            pause = min(2 * pause, _PAUSE_SECONDS_MAX)

    def _pass_on(self, notices: Notices) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(notices, selectors.EVENT_READ)
            selector.register(self._stop_reader, selectors.EVENT_READ)
            # Wake all at once, too: events from before the listening began sent no notice here.
            self._wake(self._watched())
            wake_all_at = time.monotonic() + self._wake_all_seconds
            while not self._closing.is_set():
                if time.monotonic() >= wake_all_at:
                    notices.check()
                    # Its answer may have brought some along.
                    self._wake(notices.take_users())
                    self._wake(self._watched(), only_to_look=True)
                    wake_all_at = time.monotonic() + self._wake_all_seconds
                if selector.select(wake_all_at - time.monotonic()):
                    self._wake(notices.take_users())

    def _watched(self) -> list[str]:
        with self._lock:
            return list(self._watchers)

    def _wake(self, user_ids: Iterable[str], *, only_to_look: bool = False) -> None:
        with self._lock:
            watchers = [each for user_id in user_ids for each in self._watchers.get(user_id, ())]
        for watcher in watchers:
            try:
                watcher[only_to_look]()
            except Exception:  # noqa: BLE001 - the outermost edge of the thread that all watchers share
                _log("a watcher of the feed failed", exception=traceback.format_exc())


class Follower:
    """Reads one user's feed for an event loop, batch after batch; HTTP streams and MCP both use it.

    Nothing is buffered for it: entries that it has not read yet stay in the events table. `was_told` is set
    by a notice, whether it is of an entry or not.
    """

    was_told = False

    def __init__(
        self, feed: Feed, user_id: str, position: str | None = None, limit: int = BATCH_ENTRIES_DEFAULT
    ) -> None:
        self._feed = feed
        self._user_id = user_id
        self._position = position
        self._limit = limit
        self._woken = asyncio.Event()
        self._caught_up = False
        self._is_failing = False

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Be woken by news while the block lasts; enter it before the first read, so that none is missed."""
        later = asyncio.get_running_loop().call_soon_threadsafe
        with self._feed.watch(self._user_id, partial(later, self._tell), partial(later, self.wake)):
            yield

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Run some work in a follower's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._feed.threads, work)

    async def find_position(self) -> str:
        """Return the position that the next read starts from: the given one, else the feed's end."""
        if self._position is None:
            self._position = await self.run(lambda: self._feed.now(self._user_id))
        return self._position

    async def read(self) -> Batch:
        """Read the next batch at once; it may be empty."""
        position = await self.find_position()
        batch = await self.run(lambda: self._feed.since(self._user_id, position, self._limit))
        self._position, self._caught_up, self._is_failing = batch.position, batch.complete, False
        return batch

    async def next(self, seconds_max: float | None = None) -> Batch:
        """Wait for news if the last batch was complete, then read; after the longest wait, read anyway.

        While the feed can't be read, the batch is empty: the entries are still there when the database is
        back.
        """
        if self._caught_up:
            await self.wait(seconds_max)
        try:
            return await self.read()
        except GardenError as error:
            if not self._is_failing:
                _log("the feed can't be read", reason=error.message)
            self._caught_up, self._is_failing = False, True
            await self.wait(_RETRY_SECONDS)
            return Batch((), self._position or "", complete=False)

    async def wait(self, seconds_max: float | None = None) -> None:
        """Wait until the feed may have grown, or for so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds_max):
                await self._woken.wait()
        self._woken.clear()

    def wake(self) -> None:
        """End a wait now."""
        self._woken.set()

    def _tell(self) -> None:
        self.was_told = True
        self.wake()


def _log(event: str, **about: str) -> None:
    get_logger("garden.feed").warning(event, **about)
