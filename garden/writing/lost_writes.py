"""Lost writes: files that a disk set back to an older version, though it had confirmed a newer one.

A person who puts an older version back leaves the same bytes. It was the disk only if nothing was touched
since: the file was last touched during the write of the version that it holds, or to link the copy made for
the next version, and no folder on the way has changed since the newest write. In doubt it was the person.

All these are times of one clock, that of the file system: each event records when its text was written by
that clock. How long a write took is the difference of two times of its event. So clocks that differ do not
matter.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from garden.events.payloads import AdoptedPayload, EditPayload, NotePayload
from garden.events.reader import EventReader, Query
from garden.events.records import JOURNAL, Caller, Event, Statement
from garden.events.saga import Status
from garden.events.store import EventStore
from garden.events.stream import LockedStream
from garden.files.errors import FileMissingError
from garden.files.garden_files import FileText, GardenFiles
from garden.files.garden_folders import CLOCK_STEP_NS
from garden.files.paths import GardenPath
from garden.home.logs import get_logger

RECOVERY_TYPE, MADE_AGAIN_OP = "recovery", "made_again"
_RECENT_EVENTS = 200
_CLOCK_STEP = timedelta(microseconds=CLOCK_STEP_NS / 1000)


class _Versions(NamedTuple):
    """The events of the version that a file holds, of the next one, and of the newest."""

    held: Event
    next: Event
    newest: Event


class _TimeOfWrite(NamedTuple):
    """When a text was written, and when it was in its place at the latest, by the file system's clock."""

    start: datetime
    end: datetime


@dataclass(frozen=True)
class LostWrites:
    """Rebuilds files with lost writes from their events."""

    store: EventStore
    reader: EventReader
    files: GardenFiles

    def rebuild(self, stream: LockedStream, path: GardenPath, file: FileText) -> FileText | None:
        """Put the newest version in the file's place if the disk set the file back; returns the new file.

        A statement in the journal tells the person, who may have wanted the older version after all.
        """
        versions = self._find_versions(stream, path, file)
        if versions is None:
            return None
        version, held = stream.head.version, versions.held.document_version
        text = self.reader.text_at(path.user_id, path.text, version)
        self.files.replace(path, text.encode(), expected=file.hash)
        get_logger("garden.recovery").warning(
            "the disk had set a file back; it was rebuilt", path=path.text, version=version
        )
        statement = Statement(
            type=RECOVERY_TYPE,
            op=MADE_AGAIN_OP,
            tool="garden",
            path=path.text,
            rationale=f"Version {version} was made again: the disk had set the file back to version {held}.",
            edit=NotePayload(details={"version": version, "setBackTo": held}),
        )
        with self.store.lock_second(stream, JOURNAL) as journal:
            journal.record(statement, by=Caller(path.user_id, "recovery", "maintainer"))
        return self.files.read(path)

    def newest_text(self, stream: LockedStream, path: GardenPath, file: FileText) -> str | None:
        """The newest version's text if the disk set the file back, or None."""
        if self._find_versions(stream, path, file) is None:
            return None
        return self.reader.text_at(path.user_id, path.text, stream.head.version)

    def _find_versions(self, stream: LockedStream, path: GardenPath, file: FileText) -> _Versions | None:
        if stream.head.version < 2 or file.hash == stream.head.file_hash:
            return None
        if not stream.head.has_file:
            # A move took the document away; this file may be the only copy, if the new path was lost.
            return None
        found = self._versions_from(path, file.hash)
        return found if found and self._is_untouched(path, file, found) else None

    def _is_untouched(self, path: GardenPath, file: FileText, found: _Versions) -> bool:
        """Whether neither the file nor a folder was touched since the writes of these versions."""
        held, following, newest = map(_time_of_write, found)
        if following is None or newest is None or self.files.changed_at(path) > newest.end:
            return False
        if file.touched_at <= following.start:
            return held is None or file.touched_at <= held.end
        if file.touched_at > following.end:
            return False
        # The file was touched to link the copy made for the next version.
        with suppress(FileMissingError):
            return self.files.is_same_file(path, path.copy_of(found.next.created_at, found.next.event_id))
        return False

    def _versions_from(self, path: GardenPath, raw_hash: str) -> _Versions | None:
        """Find the newest version with these bytes, and those after it."""
        page = self.reader.query(path.user_id, Query(path=path.text, limit=_RECENT_EVENTS))
        committed = [
            event
            for event in page.events
            if event.status is Status.COMMITTED and event.document_version is not None
        ]
        for following, event in pairwise(committed):
            if event.intended_raw_hash == raw_hash:
                return _Versions(event, following, committed[0])
        return None


def _time_of_write(event: Event) -> _TimeOfWrite | None:
    """When an event's text was written; None for a move, and for an event of an earlier release."""
    edit = event.statement.edit
    if not isinstance(edit, EditPayload | AdoptedPayload) or edit.file_time is None:
        return None
    start = datetime.fromisoformat(edit.file_time)
    took = (event.committed_at or event.created_at) - event.created_at
    return _TimeOfWrite(start, start + took + _CLOCK_STEP)
