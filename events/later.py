"""Work that is done a moment later, once for all that asked for it meanwhile."""

import threading
from collections.abc import Callable

# A killed process loses the work of this time.
_SECONDS = 1.0


class Later:
    """Does its work in a thread, about a second after it is asked to, and when it is closed."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._guard = threading.Lock()
        self._timer: threading.Timer | None = None

    def ask(self) -> None:
        """Have the work done soon; this does not wait for it."""
        with self._guard:
            if self._timer is None:
                self._timer = threading.Timer(_SECONDS, self._run)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Do the work now."""
        with self._guard:
            if self._timer is not None:
                self._timer.cancel()
        self._run()

    def _run(self) -> None:
        with self._guard:
            self._timer = None
        self._work()
