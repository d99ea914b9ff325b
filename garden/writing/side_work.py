"""Side work: what a writer does while the database waits for its disk."""

from collections.abc import Callable

from garden.grammar.errors import GardenError


class SideWork:
    """Work whose error waits until the writer asks for it, so that the answer of the database comes first."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._is_done = False
        self._error: GardenError | None = None

    def __call__(self) -> None:
        """Do the work, unless it is done."""
        if self._is_done:
            return
        self._is_done = True
        try:
            self._work()
        except GardenError as error:
            self._error = error

    def check(self) -> None:
        """Raise the error of the work, if there was one."""
        if self._error is not None:
            raise self._error
