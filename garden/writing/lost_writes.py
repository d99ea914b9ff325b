"""Lost writes: files that a disk set back to an older version, though it had confirmed a newer one.

A person who puts an older version back leaves the same bytes, but changes the file's times, or those of a
folder that was put back with the file. A file that the disk set back was last touched before the lost version
was begun, or to link the copy made for that version.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from garden.events.reader import EventReader, Query
from garden.events.records import Event
from garden.events.saga import Status
from garden.events.stream import LockedStream
from garden.files.errors import FileMissingError
from garden.files.garden_files import FileText, GardenFiles
from garden.files.paths import GardenPath
from garden.home.logs import get_logger

_RECENT_EVENTS = 200
# The clock of the file system may lag behind the one of events.
_COARSE = timedelta(milliseconds=20)


@dataclass(frozen=True)
class LostWrites:
    """Rebuilds files with lost writes from their events."""

    reader: EventReader
    files: GardenFiles

    def rebuild(self, stream: LockedStream, path: GardenPath, file: FileText) -> FileText | None:
        """Put the newest version in the file's place if the disk set the file back; returns the new file."""
        text = self.newest_text(stream, path, file)
        if text is None:
            return None
        self.files.replace(path, text.encode(), expected=file.hash)
        get_logger("garden.recovery").warning(
            "the disk had set a file back; it was rebuilt", path=path.text, version=stream.head.version
        )
        return self.files.read(path)

    def newest_text(self, stream: LockedStream, path: GardenPath, file: FileText) -> str | None:
        """The newest version's text if the disk set the file back, or None."""
        if stream.head.version < 2 or file.hash == stream.head.file_hash:
            return None
        if not stream.head.has_file:
            # A move took the document away; this file may be the only copy, if the new path was lost.
            return None
        lost = self._next_after(path, file.hash)
        # With a wrong clock it could be a person's undo. Both texts are in the event log, so nothing is lost.
        if lost is None or not stream.is_dated_by_clock(lost) or not self._is_older(path, file, lost):
            return None
        return self.reader.text_at(path.user_id, path.text, stream.head.version)

    def _is_older(self, path: GardenPath, file: FileText, lost: Event) -> bool:
        """Whether a file was last touched before the change that it lacks."""
        if self.files.moved_at(path) > lost.created_at - _COARSE:
            # A person who puts a folder back leaves the times of the files in it.
            return False
        if file.touched_at < lost.created_at - _COARSE:
            return True
        if lost.committed_at is None or file.touched_at > lost.committed_at:
            return False
        # Either a person was that quick, or the file was touched to link the copy made for this change.
        with suppress(FileMissingError):
            return self.files.is_same_file(path, path.copy_of(lost.created_at, lost.event_id))
        return False

    def _next_after(self, path: GardenPath, raw_hash: str) -> Event | None:
        """Find the event that replaced the newest version with these bytes."""
        page = self.reader.query(path.user_id, Query(path=path.text, limit=_RECENT_EVENTS))
        following: Event | None = None
        for event in page.events:
            if event.status is not Status.COMMITTED or event.document_version is None:
                continue
            if event.intended_raw_hash == raw_hash:
                return following
            following = event
        return None
