"""Lost copies: history copies that a power failure took, though their change is committed.

A change is committed while the disk still writes the name of its copy. A power failure can take that name
only before the change is answered, so only the newest change of a document can lack its copy.
"""

from dataclasses import dataclass

from garden.events.reader import EventReader
from garden.events.records import LastChange
from garden.events.stream import LockedStream
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.home.logs import get_logger
from garden.writing.adoption import ADOPTED_TYPE
from garden.writing.departures import EMPTY_HASH
from garden.writing.planner import keeps_copy


@dataclass(frozen=True)
class LostCopies:
    """Makes lost copies again from the events."""

    reader: EventReader
    files: GardenFiles

    def rebuild(self, stream: LockedStream, path: GardenPath) -> bool:
        """Make the copy of the newest change again if it is missing; returns whether it was."""
        copy = self.find(stream, path)
        if copy is None:
            return False
        text = self.reader.text_at(path.user_id, path.text, stream.head.version - 1)
        self.files.history.write(copy, text.encode())
        get_logger("garden.recovery").warning("a lost copy was made again", path=copy.text)
        return True

    def find(self, stream: LockedStream, path: GardenPath) -> GardenPath | None:
        """The copy of the newest change if it is missing, or None."""
        change = stream.last_change
        # A change that was settled since has its copy.
        is_newest = change is not None and change.event_id == stream.head.head_event_id
        copy = copy_left_by(path, change) if change and is_newest else None
        return copy if copy and not self.files.exists(copy) else None


def copy_left_by(path: GardenPath, change: LastChange) -> GardenPath | None:
    """The copy that a document's last change left, if it replaced a version and keeps it."""
    if change.before_raw_hash in {None, EMPTY_HASH} or change.type == ADOPTED_TYPE:
        return None
    return path.copy_of(change.created_at, change.event_id) if keeps_copy(path, change.op) else None
