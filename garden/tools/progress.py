"""The progress of a long call. Its caller may watch it and cancel it, and a deadline ends it."""

import time
from collections.abc import Callable
from typing import ClassVar

from garden.grammar.errors import GardenError

ReportStep = Callable[[float, float | None, str | None], None]


class CancelledCallError(GardenError):
    """The caller cancelled the call."""

    code: ClassVar[str] = "unavailable"


class TooSlowError(GardenError):
    """The call took longer than it may."""

    code: ClassVar[str] = "unavailable"


class CallProgress:
    """The steps of one call, which end with its deadline.

    Steps are taken in the call's own thread; `cancel` may come from any thread. A write that has begun takes
    no more steps, so it always finishes.
    """

    __slots__ = ("_cancelled", "_ends_at", "_report", "_seconds")

    def __init__(self, report: ReportStep | None = None) -> None:
        self._report = report
        self._cancelled = False
        self._seconds = self._ends_at = float("inf")

    def begin(self, seconds: float) -> None:
        """Begin the call, which may take so long, unless it was cancelled."""
        self._seconds, self._ends_at = seconds, time.monotonic() + seconds
        self.step()

    def cancel(self) -> None:
        """Stop the call before its next step."""
        self._cancelled = True

    def step(self, done: float = 0, total: float | None = None, message: str | None = None) -> None:
        """Begin a step after `done` of `total`; raise if the call was cancelled or is late."""
        if self._cancelled:
            raise CancelledCallError("The call was cancelled.", hint="Send it again to carry it out.")
        if time.monotonic() > self._ends_at:
            raise TooSlowError(
                f"The call took longer than {self._seconds:g} seconds and was ended; nothing was written.",
                hint="Ask for less at once: a folder instead of the garden, a shorter period, fewer words.",
            )
        if self._report is not None and done:
            self._report(done, total, message)
