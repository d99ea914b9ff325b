"""Which versions of a document are whole, and which of them somebody means who wants one back."""

from datetime import datetime
from itertools import islice
from typing import ClassVar

from garden.events.reader import EventReader
from garden.events.records import Event
from garden.events.saga import Status
from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.writing.adoption import ADOPTED_TYPE
from garden.writing.planner import DocumentDamagedError
from garden.writing.settlement import EMPTY_HASH
from garden.writing.versions import find_event, version_at, versions_of

_LISTED_MAX = 10


class NotAVersionError(GardenError):
    """The event that was named left no version of this document."""

    code: ClassVar[str] = "invalid_input"


def last_whole_version(reader: EventReader, path: GardenPath, newest: int) -> int:
    """Find the newest version up to one on which tools could work; 0 where there is none."""
    for event in versions_of(reader, path):
        version = event.document_version
        if version is not None and version <= newest and _is_whole(event):
            return version
    return 0


def check_version_is_whole(reader: EventReader, path: GardenPath, version: int) -> None:
    """Refuse to put back a version on which no tool could work, and name those that are whole."""
    meant = next((event for event in versions_of(reader, path) if event.document_version == version), None)
    if meant is None or _is_whole(meant):
        return
    every = (event.document_version for event in versions_of(reader, path) if _is_whole(event))
    whole = list(islice(every, _LISTED_MAX))
    raise DocumentDamagedError(
        f"Version {version} of {path} is damaged itself.",
        hint=f"Whole are, newest first: {', '.join(map(str, whole))}."
        if whole
        else "None is whole. Mend the document with any editor.",
        details={"wholeVersions": whole},
    )


def resolve_version(
    reader: EventReader, path: GardenPath, *, version: int | None, at: datetime | None, event: str | None
) -> int:
    """Tell which version is meant by its number, by a time, or by the event that left it."""
    if version is not None:
        return version
    if at is not None:
        return version_at(reader, path, at)
    found = find_event(reader, path.user_id, event or "")
    is_of_this = found.statement.path == path.text and found.status is Status.COMMITTED
    if not is_of_this or found.document_version is None:
        raise NotAVersionError(
            "That event left no version of this document.",
            hint="events.query with the path and the status committed finds those that did.",
            details={"eventId": str(found.event_id), "path": found.statement.path},
        )
    return found.document_version


def _is_whole(event: Event) -> bool:
    """Tell whether an event left a document whole; tools leave none that is not."""
    lint = event.statement.lint or {}
    is_damaged = event.statement.type == ADOPTED_TYPE and bool(lint.get("damage") or lint.get("blocked"))
    return not is_damaged and event.intended_raw_hash != EMPTY_HASH
