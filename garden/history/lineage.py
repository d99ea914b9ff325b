"""A document's versions, newest first, at its path and at the paths that it was moved from."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from garden.events.reader import DocumentUnknownError
from garden.events.version_texts import VERSION_MAX
from garden.events.versions import Version, VersionReader


class Segment(NamedTuple):
    """The versions from `first` to `last` that a document had at one path."""

    path: str
    first: int
    last: int


class Lineage:
    """A document with the paths that it had."""

    def __init__(self, versions: VersionReader, user_id: str, path: str) -> None:
        self._versions = versions
        self.user_id = user_id
        self.path = path

    def head(self) -> Version:
        """The newest version; it has no file if the document was moved away."""
        head = self._versions.newest(self.user_id, self.path)
        if head is None:
            raise DocumentUnknownError(self.path)
        return head

    def first(self) -> Version:
        """The oldest version."""
        *_, oldest = self.segments()
        return self.numbered(oldest.first, oldest.path) or self.head()

    def numbered(self, number: int, path: str | None = None) -> Version | None:
        """The version with this number, at this path or another one."""
        in_range = 0 < number <= VERSION_MAX
        return self._versions.numbered(self.user_id, path or self.path, number) if in_range else None

    def back(self, count: int) -> Version | None:
        """The version that is so many before the newest."""
        for path, first, last in self.segments():
            if count <= last - first:
                return self.numbered(last - count, path)
            count -= last - first + 1
        return None

    def at(self, time: datetime) -> Version | None:
        """The version of a time."""
        for path, first, last in self.segments():
            found = self._versions.newest(self.user_id, path, at=time, last=last)
            if found and found.number >= first:
                return found
        return None

    def event(self, ending: str) -> Version | None:
        """The newest event about the document whose id ends so; it need not have left a version."""
        return self._versions.ending(self.user_id, [each.path for each in self.segments()], ending)

    def segments(self) -> Iterator[Segment]:
        """The versions at each path; before a move, those up to it."""
        newest: Version | None = self.head()
        while newest:
            arrival = self._versions.arrival(self.user_id, newest.path, newest.number)
            yield Segment(newest.path, arrival.number if arrival else 1, newest.number)
            if arrival is None or arrival.came_from is None:
                return
            newest = self._versions.newest(
                self.user_id, arrival.came_from, before=arrival.event_id, with_file=True
            )
