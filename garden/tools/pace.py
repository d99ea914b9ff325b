"""How far a long call has come: told to whoever waits for it, who may also give it up."""

from collections.abc import Callable
from typing import ClassVar

from garden.grammar.errors import GardenError

Tell = Callable[[float, float | None, str | None], None]


class CancelledCallError(GardenError):
    """Whoever asked has given the call up."""

    code: ClassVar[str] = "unavailable"


class Pace:
    """The steps of one call; whoever made it may watch them, and have no further one begun.

    Steps are taken in the call's own thread, and `give_up` comes from any other. A write takes none once it
    has begun: it is finished.
    """

    __slots__ = ("_given_up", "_tell")

    def __init__(self, tell: Tell | None = None) -> None:
        self._tell = tell
        self._given_up = False

    def give_up(self) -> None:
        """Let the call stop before its next step."""
        self._given_up = True

    def step(self, done: float = 0, total: float | None = None, message: str | None = None) -> None:
        """Begin a step, `done` of `total` being over; stop here if the call was given up."""
        if self._given_up:
            raise CancelledCallError("The call was given up.", hint="Send it again to have it carried out.")
        if self._tell is not None and done:
            self._tell(done, total, message)
