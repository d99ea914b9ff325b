"""The outcome of a call that writes, and the form in which it is stored for a replay."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class WriteOutcome:
    """A tool's result, with the event, the warnings and the rest of the answer's `meta`."""

    result: Any
    event_id: UUID | None = None
    replayed: bool = False
    unchanged: bool = False
    warnings: tuple[str, ...] = ()
    hint: str | None = None
    also: Mapping[str, Any] = field(default_factory=dict)


def stored_response(outcome: WriteOutcome) -> dict[str, Any]:
    """The response to store for a request that is sent again."""
    return {"result": outcome.result, "warnings": list(outcome.warnings)}
