"""The threads that calls are carried out in: the event loop of a surface never waits for a disk."""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, TypeVar

from garden.tools.pace import Pace
from grammar.errors import GardenError

THREADS = 8
WAITING_MAX = 256

Result = TypeVar("Result")


class TooManyCallsError(GardenError):
    """More calls are under way than will be carried out soon, or than one user may have."""

    code: ClassVar[str] = "rate_limited"


class Workers:
    """A bounded number of threads, and of calls that wait for one, whoever's they are and each user's.

    Used from the event loop alone.
    """

    def __init__(self, threads: int = THREADS, of_user_max: int = THREADS + WAITING_MAX) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="garden-mcp-call")
        self._waiting_max = threads + WAITING_MAX
        self._of_user_max = of_user_max
        self._of_user: Counter[str] = Counter()

    async def run(self, user_id: str, work: Callable[[], Result], pace: Pace | None = None) -> Result:
        """Do some work in a thread; where nobody waits for it any more, it stops at its next step."""
        if self._of_user.total() >= self._waiting_max:
            raise TooManyCallsError("Too many calls are waiting.", hint="Send it again in a moment.")
        if self._of_user[user_id] >= self._of_user_max:
            raise TooManyCallsError(
                "This user has too many calls under way.", hint="Wait for the answers, then send it again."
            )
        self._of_user[user_id] += 1
        doing = asyncio.get_running_loop().run_in_executor(self._threads, work)
        doing.add_done_callback(lambda _: self._done(user_id))
        try:
            # What is given up keeps its place until a thread has come to it: it still holds all it was given.
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            if pace is not None:
                pace.give_up()
            raise

    def close(self) -> None:
        """Wait for what has begun; what has not, never will."""
        self._threads.shutdown(cancel_futures=True)

    def _done(self, user_id: str) -> None:
        self._of_user[user_id] -= 1
        if not self._of_user[user_id]:
            del self._of_user[user_id]
