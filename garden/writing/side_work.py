"""Side work: what a writer does while the database waits for its disk."""

from collections.abc import Callable
from typing import Generic, TypeVar

from garden.grammar.errors import GardenError

Result = TypeVar("Result")


class SideWork(Generic[Result]):
    """Work whose error waits until the writer asks for it, so that the answer of the database comes first."""

    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._is_done = False
        self._result: Result | None = None
        self._error: GardenError | None = None

    def __call__(self) -> None:
        """Do the work, unless it is done."""
        if self._is_done:
            return
        self._is_done = True
        try:
            self._result = self._work()
        except GardenError as error:
            self._error = error

    def result(self) -> Result | None:
        """The result of the work; its error is raised, if there was one."""
        if self._error is not None:
            raise self._error
        return self._result
