"""Wait for a condition, with a limit."""

import time
from collections.abc import Callable
from typing import TypeVar

from garden.events.database import connection

DEADLINE_SECONDS = 60
_PAUSE_SECONDS = 0.005

# Every database of the server shows the locks of all.
_LOCK_AWAITED = (
    b"select exists (select from pg_locks where locktype = 'advisory' and not granted"
    b" and database = (select oid from pg_database where datname = current_database()))"
)

Found = TypeVar("Found")


def until(found: Callable[[], Found]) -> Found:
    """Call again and again until the answer is true."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (answer := found()):
        assert time.monotonic() < deadline, "it did not happen"
        # Without a pause the polling would slow down the process that it waits for.
        time.sleep(_PAUSE_SECONDS)
    return answer


def until_a_lock_is_awaited(database: str) -> None:
    """Wait until another connection waits for a document's lock in this database."""
    with connection(database) as watching:
        until(lambda: watching.execute(_LOCK_AWAITED).fetchone() == (True,))
