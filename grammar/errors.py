"""The one error tree of the project.

It stands at the bottom of the import order because every package raises errors that end up, unchanged, in an
answer envelope: a stable code for programs, a message for people, and a hint that says what to do next.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class GardenError(Exception):
    """Something was refused or could not be done; the message says what, the hint says what to do next."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, hint: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = dict(details or {})
