"""Checks the lines that an edit adds to the Change Log against the events that they name."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import ClassVar
from uuid import UUID

from garden.events.reader import EventReader
from garden.events.records import Event
from garden.events.saga import Status
from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.grammar.log_claims import LogClaim
from garden.grammar.refusals import excerpt

_HINT = (
    "Leave such lines to the tools: every material edit adds its own. A line may name an event of this "
    "document as '- <its time> · <section> · <op> · <reason> (evt:<its whole id>)'; events.query lists them."
)


class FalseLogLineError(GardenError):
    """A line for the Change Log names an event that the event log does not bear out."""

    code: ClassVar[str] = "invalid_input"


def log_time(at: datetime) -> str:
    """Format a time as in the Change Log: `2026-11-18 08:25Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%MZ")


def refuse_false_claims(reader: EventReader, path: GardenPath, claims: Iterable[LogClaim]) -> None:
    """Refuse lines that name no event of this document, or not with its time."""
    # Each line costs a look-up under the document's lock; the first that is false ends them.
    for claim in dict.fromkeys(claims):
        event = _find_event(reader, path, claim.event_id)
        if event is None:
            raise FalseLogLineError(
                f"A line for the Change Log names the event {excerpt(claim.event_id)!r}, "
                "which is none of this document.",
                hint=_HINT,
            )
        if claim.time != log_time(event.created_at):
            raise FalseLogLineError(
                f"A line for the Change Log names the event {event.event_id} with another time than its own, "
                f"{log_time(event.created_at)}.",
                hint=_HINT,
            )


def _find_event(reader: EventReader, path: GardenPath, event_id: str) -> Event | None:
    try:
        event = reader.event(path.user_id, UUID(event_id))
    except ValueError:
        return None
    happened_here = event and event.statement.path == path.text and event.status is not Status.FAILED
    return event if happened_here else None
