"""The threads that carry calls out: a bounded number of them, and of calls that wait for one."""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from garden.settings import Serve
from garden.web.refusing import OverloadedError, TooManyCallsError

Result = TypeVar("Result")


class Workers:
    """Runs synchronous work beside the event loop, and refuses what can't be done soon.

    Used from the event loop alone, so its counters need no lock.
    """

    def __init__(self, limits: Serve) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="garden-call")
        self._under_way = 0
        self._of_user: Counter[str] = Counter()

    @property
    def under_way(self) -> int:
        """Calls being carried out or waiting for it."""
        return self._under_way

    async def run(self, user_id: str, work: Callable[[], Result]) -> Result:
        """Do some work for a user in a thread; what has begun is finished even if nobody waits for it."""
        self._take_place(user_id)
        done = asyncio.get_running_loop().run_in_executor(self._threads, copy_context().run, work)
        done.add_done_callback(lambda _: self._give_place_back(user_id))
        return await asyncio.shield(done)

    def close(self) -> None:
        """Wait for the calls that have begun."""
        self._threads.shutdown()

    def _take_place(self, user_id: str) -> None:
        if self._under_way >= self._limits.threads + self._limits.waiting_calls:
            raise OverloadedError("Too many calls are waiting.", hint="Send it again in a moment.")
        if self._of_user[user_id] >= self._limits.user_calls:
            raise TooManyCallsError(
                "This user has too many calls under way.",
                hint="Wait for the answers, then send it again.",
                details={"retryAfterMs": 1000},
            )
        self._under_way += 1
        self._of_user[user_id] += 1

    def _give_place_back(self, user_id: str) -> None:
        self._under_way -= 1
        self._of_user[user_id] -= 1
        if not self._of_user[user_id]:
            del self._of_user[user_id]
