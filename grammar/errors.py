"""The base class of all errors in the project.

It is at the bottom of the import order because errors of every package reach the caller unchanged, in an
answer envelope: a stable code for programs, a message for people, and a hint that says what to do next.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class GardenError(Exception):
    """A refusal or failure; the message says what is wrong, the hint says what to do next."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, hint: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = dict(details or {})
