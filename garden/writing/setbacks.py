"""Files that the disk set back: an older version stands where a newer one was confirmed.

A disk that keeps its word never does that. A person who puts an older version back does the same to the
bytes, but touches the file by it; what the disk set back was last touched before the version that is missing
was begun, or for the copy that was kept of it then.
"""

from contextlib import suppress
from datetime import timedelta

import structlog

from garden.events.reader import EventReader, Query
from garden.events.records import Event
from garden.events.saga import Status
from garden.events.stream import LockedStream
from garden.files.errors import FileMissingError
from garden.files.garden_files import FileText, GardenFiles
from garden.files.paths import GardenPath
from garden.writing.settlement import EMPTY_HASH

_RECENT_EVENTS = 200
# The clock by which files are touched may lag behind the one of events.
_COARSE = timedelta(milliseconds=20)


class LostWrites:
    """Makes such files again, from the account."""

    def __init__(self, reader: EventReader, files: GardenFiles) -> None:
        self._reader = reader
        self._files = files

    def remade(self, stream: LockedStream, path: GardenPath, file: FileText) -> FileText | None:
        """Put the newest version in the file's place, if the disk has set it back."""
        if stream.head.version < 2 or file.hash == stream.head.raw_hash:
            return None
        if stream.head.raw_hash == EMPTY_HASH:
            # It went away with a move, and what is back is all that there is of it, if the new path lost it.
            return None
        lost = self._next_after(path, file.hash)
        # By a clock that is wrong it could as well be a person's undo; both texts stand in the account.
        if lost is None or not stream.is_dated_by_clock(lost) or not self._is_older(path, file, lost):
            return None
        text = self._reader.text_at(path.user_id, path.text, stream.head.version)
        self._files.replace(path, text.encode(), expected=file.hash)
        structlog.get_logger("garden.recovery").warning(
            "a file had been set back by the disk and was made again",
            path=path.text, version=stream.head.version, lost_since=lost.document_version,
        )  # fmt: skip
        return self._files.read(path)

    def _is_older(self, path: GardenPath, file: FileText, lost: Event) -> bool:
        """Whether a file was last touched before a change that it lacks was made to it."""
        if file.touched_at < lost.created_at - _COARSE:
            return True
        if lost.committed_at is None or file.touched_at > lost.committed_at:
            return False
        # A person may have been so quick, or it was touched for the copy that was made of it for this change.
        with suppress(FileMissingError):
            return self._files.is_same_file(path, path.copy_of(lost.created_at, lost.event_id))
        return False

    def _next_after(self, path: GardenPath, raw_hash: str) -> Event | None:
        """Find the event that replaced the newest version with these bytes."""
        page = self._reader.query(path.user_id, Query(path=path.text, limit=_RECENT_EVENTS))
        following: Event | None = None
        for event in page.events:
            if event.status is not Status.COMMITTED or event.document_version is None:
                continue
            if event.intended_raw_hash == raw_hash:
                return following
            following = event
        return None
