"""The versions of documents: found by time or event, and chosen for a restore."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import ClassVar

from garden.events.erased_words import ErasedError
from garden.events.reader import (
    PAGE_EVENTS_MAX,
    DocumentUnknownError,
    EventReader,
    Query,
    VersionNotFoundError,
)
from garden.events.records import Event
from garden.events.saga import Status
from garden.events.versions import VersionReader
from garden.files.paths import GardenPath
from garden.grammar.diffs import Diff, unified_diff
from garden.grammar.errors import GardenError
from garden.grammar.splice import apply_splices
from garden.writing.plan_refusals import DocumentDamagedError
from garden.writing.planner import ERASE_OP
from garden.writing.services import Services

_LISTED_MAX = 10


class EventNotFoundError(GardenError):
    """The user has no event with this id."""

    code: ClassVar[str] = "not_found"


class NotAVersionError(GardenError):
    """The named event left no version of this document."""

    code: ClassVar[str] = "invalid_input"


def version_at(versions: VersionReader, path: GardenPath, time: datetime) -> int:
    """The version of a document that was current at a time."""
    if found := versions.newest(path.user_id, path.text, at=time):
        return found.number
    if versions.newest(path.user_id, path.text) is None:
        raise DocumentUnknownError(path.text)
    raise VersionNotFoundError(
        f"The event log has no version of {path} from before that time.", hint="Choose a later time."
    )


def versions_of(reader: EventReader, path: GardenPath, until: datetime | None = None) -> Iterator[Event]:
    """The events that each left a version of a document, newest first."""
    wanted = Query(path=path.text, status=Status.COMMITTED, until=until, limit=PAGE_EVENTS_MAX)
    for event in _newest_first(reader, path.user_id, wanted):
        # Some events name the document without changing it.
        if event.document_version is not None:
            yield event


def find_event(reader: EventReader, user_id: str, name: str) -> Event:
    """Find an event by its id, or by the last characters of its id."""
    found = reader.query(user_id, Query(event_id=name, limit=1)).events
    if not found:
        raise EventNotFoundError(
            "There is no such event.", hint="'garden events' lists all events, newest first."
        )
    return found[0]


def change_of(reader: EventReader, event: Event) -> Diff:
    """The diff of an event, whether it was carried out or not."""
    path, version = event.statement.path, event.document_version
    if event.splices is None or path is None or version is None:
        return Diff("", 0, 0)
    before = reader.text_at(event.user_id, path, version - 1) if version > 1 else ""
    return unified_diff(before, apply_splices(before, event.splices), path)


def last_whole_version(reader: EventReader, path: GardenPath, newest: int) -> int:
    """The newest undamaged version up to `newest`; 0 if there is none."""
    for event in versions_of(reader, path):
        version = event.document_version
        if version is not None and version <= newest and _is_whole(event):
            return version
    return 0


def check_version_is_whole(reader: EventReader, path: GardenPath, version: int) -> None:
    """Refuse to restore a damaged version, and name the undamaged ones."""
    wanted = None
    for event in versions_of(reader, path):
        if event.document_version == version:
            wanted = event
            break
        if event.statement.op == ERASE_OP and not event.leaves_file:
            raise ErasedError(
                f"Version {version} of {path} was erased, together with the whole document.",
                hint="Choose a version from after that, or begin the document anew: with md.plant, below "
                "memories/ with fs.write.",
            )
    if wanted is None or _is_whole(wanted):
        return
    every = (event.document_version for event in versions_of(reader, path) if _is_whole(event))
    whole = list(islice(every, _LISTED_MAX))
    raise DocumentDamagedError(
        f"Version {version} of {path} is damaged itself.",
        hint=f"Undamaged versions, newest first: {', '.join(map(str, whole))}."
        if whole
        else "No version is undamaged. Fix the document with any editor.",
        details={"wholeVersions": whole},
    )


def resolve_version(
    services: Services, path: GardenPath, *, version: int | None, at: datetime | None, event: str | None
) -> int:
    """The version given by its number, by a time, or by the event that left it."""
    if version is not None:
        return version
    if at is not None:
        return version_at(services.versions, path, at)
    found = find_event(services.reader, path.user_id, event or "")
    is_of_this = found.statement.path == path.text and found.status is Status.COMMITTED
    if not is_of_this or found.document_version is None:
        raise NotAVersionError(
            "That event left no version of this document.",
            hint="Find the events that did with events.query, by the path and the status committed.",
            details={"eventId": str(found.event_id), "path": found.statement.path},
        )
    return found.document_version


def _is_whole(event: Event) -> bool:
    """Whether an event left the document undamaged; an outside edit damages one, an erasure leaves it so."""
    lint = event.statement.lint or {}
    return event.leaves_file and not lint.get("damage") and not lint.get("blocked")


def _newest_first(reader: EventReader, user_id: str, query: Query) -> Iterator[Event]:
    while True:
        page = reader.query(user_id, query)
        yield from page.events
        if page.cursor is None:
            return
        query = replace(query, cursor=page.cursor)
