"""The threads that run a surface's calls, so that its event loop never waits for a disk."""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from garden.gateway.processes import SharedCounts
from garden.grammar.errors import GardenError
from garden.tools.progress import CallProgress

THREADS = 8
WAITING_MAX = 256

_Result = TypeVar("_Result")


class OverloadedError(GardenError):
    """Too many calls wait already, or the service is about to stop."""

    code: ClassVar[str] = "unavailable"


class TooManyCallsError(GardenError):
    """One user has too many calls under way."""

    code: ClassVar[str] = "rate_limited"


@dataclass
class _UserCalls:
    """One user's calls under way, and the turns that they and their writes take."""

    turns: asyncio.Semaphore
    write_turns: asyncio.Semaphore
    under_way: int = 0


class CallThreads:
    """A bounded number of threads, and of waiting calls, in all and of each user in all processes.

    With enough threads, neither one user's calls nor the writes of all, which wait for the disk, ever take
    all of them, so a reader finds a thread. Used from the event loop alone, so the counters need no lock.
    """

    def __init__(
        self,
        threads: int = THREADS,
        waiting_max: int = WAITING_MAX,
        of_user_max: int = THREADS + WAITING_MAX,
        counts: SharedCounts | None = None,
    ) -> None:
        self._counts = counts or SharedCounts()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="garden-call")
        self._under_way_max = threads + waiting_max
        self._of_user_max = of_user_max
        self._of_user_at_once_max = max(1, threads - 1)
        self._writes_of_user_at_once_max = max(1, threads - 3)
        self._write_turns = asyncio.Semaphore(max(1, threads - 2))
        self._of_user: dict[str, _UserCalls] = {}
        self.under_way = 0
        self.refused: Counter[str] = Counter()

    async def run(
        self,
        user_id: str,
        work: Callable[[], _Result],
        progress: CallProgress | None = None,
        *,
        writes: bool = False,
    ) -> _Result:
        """Run some work for a user in a thread.

        Once begun it is finished even if the caller is cancelled; its progress may stop it earlier.
        """
        calls = self._take_place(user_id)
        with ExitStack() as place:
            place.callback(self._give_place_back, user_id)
            # The turn shared by all users comes last, so that no call holds it while waiting for another
            # turn.
            turns_to_take = (calls.write_turns, calls.turns, self._write_turns) if writes else (calls.turns,)
            for turns in turns_to_take:
                await turns.acquire()
                place.callback(turns.release)
            running = asyncio.get_running_loop().run_in_executor(self._threads, copy_context().run, work)
            held = place.pop_all()
            running.add_done_callback(lambda _: held.close())
        try:
            # A cancelled call keeps its place until a thread has reached it: until then it holds its
            # arguments.
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            if progress is not None:
                progress.cancel()
            raise
        finally:
            # An error refers back to this: in a cycle, the request would stay until a garbage collection.
            del running

    def close(self) -> None:
        """Wait for the calls under way; drop those that have not begun."""
        self._threads.shutdown(cancel_futures=True)

    def _take_place(self, user_id: str) -> _UserCalls:
        calls = self._of_user.get(user_id) or _UserCalls(
            asyncio.Semaphore(self._of_user_at_once_max), asyncio.Semaphore(self._writes_of_user_at_once_max)
        )
        if self.under_way >= self._under_way_max:
            self.refused[OverloadedError.code] += 1
            raise OverloadedError("Too many calls are waiting.", hint="Send it again in a moment.")
        if self._counts.total(("calls", user_id)) >= self._of_user_max:
            self.refused[TooManyCallsError.code] += 1
            raise TooManyCallsError(
                "This user has too many calls under way.",
                hint="Wait for the answers, then send it again.",
                details={"retryAfterMs": 1000},
            )
        self._of_user[user_id] = calls
        calls.under_way += 1
        self.under_way += 1
        self._counts.add(("calls", user_id), 1)
        return calls

    def _give_place_back(self, user_id: str) -> None:
        self.under_way -= 1
        self._counts.add(("calls", user_id), -1)
        self._of_user[user_id].under_way -= 1
        if not self._of_user[user_id].under_way:
            del self._of_user[user_id]
