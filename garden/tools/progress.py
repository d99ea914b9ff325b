"""The progress of a long call. Its caller may watch it and cancel it."""

from collections.abc import Callable
from typing import ClassVar

from garden.grammar.errors import GardenError

ReportStep = Callable[[float, float | None, str | None], None]


class CancelledCallError(GardenError):
    """The caller cancelled the call."""

    code: ClassVar[str] = "unavailable"


class CallProgress:
    """The steps of one call.

    Steps are taken in the call's own thread; `cancel` may come from any thread. A write that has begun takes
    no more steps, so it always finishes.
    """

    __slots__ = ("_cancelled", "_report")

    def __init__(self, report: ReportStep | None = None) -> None:
        self._report = report
        self._cancelled = False

    def cancel(self) -> None:
        """Stop the call before its next step."""
        self._cancelled = True

    def step(self, done: float = 0, total: float | None = None, message: str | None = None) -> None:
        """Begin a step after `done` of `total`; raise if the call was cancelled."""
        if self._cancelled:
            raise CancelledCallError("The call was cancelled.", hint="Send it again to carry it out.")
        if self._report is not None and done:
            self._report(done, total, message)
