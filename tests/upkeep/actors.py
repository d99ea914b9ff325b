"""Threads that stop at a named failpoint, so that other threads can act in between."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from garden.events.database import connection
from garden.files.failpoints import Failpoint, watch_failpoints

_SECONDS_MAX = 60


class Actor(threading.Thread):
    """A thread that does one thing, and waits at a failpoint if it reaches it."""

    def __init__(self, work: Callable[[], Any], stops_at: Failpoint | None = None) -> None:
        super().__init__(daemon=True)
        self.result: Any = None
        self.error: BaseException | None = None
        self._work = work
        self._stops_at = stops_at
        self._waiting = threading.Event()
        self._go = threading.Event()

    def run(self) -> None:
        try:
            self.result = self._work()
        except BaseException as error:  # noqa: BLE001 - the test judges it
            self.error = error
        finally:
            self._waiting.set()

    def begin(self) -> "Actor":
        """Start, and return when the actor waits at its failpoint or is done."""
        self.start()
        assert self._waiting.wait(_SECONDS_MAX)
        return self

    def finish(self) -> Any:
        """Let the actor go on, and return its result."""
        self._go.set()
        self.join(_SECONDS_MAX)
        assert not self.is_alive()
        if self.error is not None:
            raise self.error
        return self.result

    def pass_by(self, step: Failpoint) -> None:
        if step is self._stops_at and not self._waiting.is_set():
            self._waiting.set()
            assert self._go.wait(_SECONDS_MAX)


def _seen(step: Failpoint) -> None:
    actor = threading.current_thread()
    if isinstance(actor, Actor):
        actor.pass_by(step)


@contextmanager
def staged() -> Iterator[None]:
    """Make failpoints stop actors."""
    with watch_failpoints(_seen):
        yield


def cut_off(database: str) -> int:
    """End every connection that holds a document's lock, as a server restart does."""
    with connection(database) as server:
        found = server.execute(
            b"select count(pg_terminate_backend(pid, 5000)) from (select distinct pid from pg_locks"
            b" where locktype = 'advisory' and granted and pid <> pg_backend_pid()"
            b" and database = (select oid from pg_database where datname = current_database())) as held"
        ).fetchone()
    return int(found[0]) if found else 0
