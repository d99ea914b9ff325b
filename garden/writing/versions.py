"""What was: a document's version at a time, one event by the end of its name, and what it changed."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import ClassVar
from uuid import UUID

from garden.events.reader import (
    PAGE_EVENTS_MAX,
    DocumentUnknownError,
    EventReader,
    Query,
    VersionNotFoundError,
)
from garden.events.records import Event
from garden.events.saga import Status
from garden.files.paths import GardenPath
from garden.grammar.diffs import Diff, unified_diff
from garden.grammar.errors import GardenError
from garden.grammar.splice import apply_splice

_TICK = timedelta(microseconds=1)
_LAST = datetime.max.replace(tzinfo=UTC) - timedelta(days=2)
_NAME_CHARACTERS_MIN = 6


class EventNotFoundError(GardenError):
    """The user's account has no event of this id."""

    code: ClassVar[str] = "not_found"


def version_at(reader: EventReader, path: GardenPath, time: datetime) -> int:
    """Tell which version of a document stood at a time."""
    until = time + _TICK if time < _LAST else None
    for event in versions_of(reader, path, until):
        if event.document_version is not None:
            return event.document_version
    if next(versions_of(reader, path), None) is None:
        raise DocumentUnknownError(path.text)
    raise VersionNotFoundError(
        f"The account has nothing of {path} from before that time.", hint="Name a later time."
    )


def versions_of(reader: EventReader, path: GardenPath, until: datetime | None = None) -> Iterator[Event]:
    """Go through the events that each left a version of a document, newest first."""
    wanted = Query(path=path.text, status=Status.COMMITTED, until=until, limit=PAGE_EVENTS_MAX)
    for event in _newest_first(reader, path.user_id, wanted):
        # Some speak of the document and change nothing of it.
        if event.document_version is not None:
            yield event


def find_event(reader: EventReader, user_id: str, name: str) -> Event:
    """Find an event by its id, or by the last signs of it among all that there are."""
    event: Event | None
    try:
        event = reader.event(user_id, UUID(name))
    except ValueError:
        event = _ending_in(reader, user_id, name)
    if event is None:
        raise EventNotFoundError(
            "There is no such event.", hint="'garden events' lists those that there are, newest first."
        )
    return event


def change_of(reader: EventReader, event: Event) -> Diff:
    """Tell what an event changed in its document, or was to change."""
    path, version = event.statement.path, event.document_version
    if event.splice is None or path is None or version is None:
        return Diff("", 0, 0)
    before = reader.text_at(event.user_id, path, version - 1) if version > 1 else ""
    return unified_diff(before, apply_splice(before, event.splice), path)


def _ending_in(reader: EventReader, user_id: str, name: str) -> Event | None:
    if len(name) < _NAME_CHARACTERS_MIN:
        raise EventNotFoundError(
            f"There is no such event: {name!r} is too short to find one by.",
            hint=f"Give its id, or at least the last {_NAME_CHARACTERS_MIN} signs of it.",
        )
    every = _newest_first(reader, user_id, Query(limit=PAGE_EVENTS_MAX))
    return next((event for event in every if str(event.event_id).endswith(name.lower())), None)


def _newest_first(reader: EventReader, user_id: str, query: Query) -> Iterator[Event]:
    while True:
        page = reader.query(user_id, query)
        yield from page.events
        if page.cursor is None:
            return
        query = replace(query, cursor=page.cursor)
