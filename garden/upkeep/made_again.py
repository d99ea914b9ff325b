"""What was made again after a disk had set it back; shown for a week, as it may have been a person's undo."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from garden.events.payloads import NotePayload
from garden.events.reader import Query
from garden.writing.lost_writes import MADE_AGAIN_OP, RECOVERY_TYPE
from garden.writing.services import Services

_SHOWN = timedelta(days=7)


@dataclass(frozen=True)
class MadeAgain:
    """A version that was made again from the events, in a file that had been set back to another."""

    user_id: str
    path: str
    version: int
    set_back_to: int
    at: datetime
    event_id: UUID
    message: str


def made_again(services: Services, user_id: str) -> Iterator[MadeAgain]:
    """Yield what was made again in the last week, newest first."""
    query = Query(type=RECOVERY_TYPE, op=MADE_AGAIN_OP, since=datetime.now(UTC) - _SHOWN)
    for event in services.reader.query(user_id, query).events:
        path, edit = event.statement.path or "", event.statement.edit
        details = (edit.details or {}) if isinstance(edit, NotePayload) else {}
        version, older = details.get("version", 0), details.get("setBackTo", 0)
        message = (
            f"Version {version} was made again from the events on {event.created_at:%Y-%m-%d %H:%MZ}: the "
            f"disk had set the file back to version {older}. 'garden restore {path} --version {older}' puts "
            "that back, if it was you."
        )
        yield MadeAgain(user_id, path, version, older, event.created_at, event.event_id, message)
