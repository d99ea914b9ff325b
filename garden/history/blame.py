"""The event that each line of a version came with."""

from collections import defaultdict, deque
from datetime import datetime
from heapq import merge
from typing import NamedTuple
from uuid import UUID

from garden.events.reader import EventReader
from garden.events.snapshots import ReaderSnapshot
from garden.events.version_texts import VERSION_MAX, Step, VersionTexts
from garden.events.versions import Version
from garden.grammar.line_changes import line_changes, split_line_bytes
from garden.writing.adoption import ADOPTED_TYPE

# These bring lines back; any other edit that writes an equal line writes a new one.
_BRINGING_BACK = {"restore", "undo", "repair", "move"}
_MERGING = {"merge_items", "curate_list"}
_JOINT = b"; "


class BlamedLine(NamedTuple):
    """A line with its end, and the event that it came with."""

    line: bytes
    event_id: UUID


class _Lines(defaultdict[bytes, deque[UUID]]):
    """Lines by their words, each with the event that it came with; the first of equal lines comes first."""

    def __init__(self) -> None:
        super().__init__(deque)

    def add(self, lines: list[bytes], events: list[UUID]) -> None:
        for line, event in zip(lines, events, strict=True):
            self[_words(line)].append(event)

    def replace(self, other: "_Lines") -> None:
        """Take over other lines in place of those with the same words."""
        self.update({words: deque(events) for words, events in other.items() if events})

    def bring_back(self, words: bytes) -> UUID:
        """The event of a line, and next time that of the next equal line."""
        self[words].rotate(-1)
        return self[words][-1]

    def beginning(self, words: bytes) -> UUID | None:
        """The event of the item that stands first in joined items."""
        starts = (events for start, events in self.items() if events and words.startswith(start + _JOINT))
        return next(starts, [None])[0]


class _Document:
    """A document at one path, step by step: the events of its lines, and those of lines that it lost last."""

    def __init__(self, snapshot: ReaderSnapshot, path: str) -> None:
        self.texts = VersionTexts(snapshot, path)
        self.events: list[UUID] = []
        self.gone = _Lines()
        self._left = _Lines()

    def lines(self) -> _Lines:
        """Its lines, or those that it had when it was moved away."""
        if not self.events:
            return self._left
        lines = _Lines()
        lines.add(split_line_bytes(self.texts.data), self.events)
        return lines

    def follow(self, step: Step, origin: "_Document | None") -> None:
        """Follow one change; `origin` is where the document came from with it."""
        changes = line_changes(self.texts.data, step.splices)
        moved = origin.lines() if origin else _Lines()
        if origin:
            self.gone.replace(origin.gone)
        for first, removed, _ in changes:
            moved.add(removed, self.events[first : first + len(removed)])
        added = [[self._event(line, step, moved) for line in change.added] for change in changes]
        for change, events in zip(reversed(changes), reversed(added), strict=True):
            self.events[change.first : change.first + len(change.removed)] = events
        self.gone.replace(moved)
        if not step.row["leaves_file"]:
            self._left = moved

    def _event(self, line: bytes, step: Step, moved: _Lines) -> UUID:
        words, row = _words(line), step.row
        if moved.get(words):
            return moved[words].popleft()
        if (row["op"] in _BRINGING_BACK or row["type"] == ADOPTED_TYPE) and words in self.gone:
            return self.gone.bring_back(words)
        joined = moved.beginning(words) if row["op"] in _MERGING else None
        return joined or row["event_id"]


def blame_lines(reader: EventReader, user_id: str, version: Version) -> list[BlamedLine]:
    """The lines of a version, each with its event, followed through moves of the document."""
    with reader.snapshot(user_id) as snapshot:
        documents = {path: _Document(snapshot, path) for path in _paths(snapshot, version.path)}
        steps = (
            each.texts.steps(1, version.number if path == version.path else VERSION_MAX)
            for path, each in documents.items()
        )
        for step in merge(*steps, key=_turn):
            documents[step.row["stream"]].follow(step, documents.get(step.row["came_from"]))
            if step.row["event_id"] == version.event_id:
                break
        wanted = documents[version.path]
        lines = split_line_bytes(wanted.texts.at(version.number))
    return [BlamedLine(*each) for each in zip(lines, wanted.events, strict=True)]


def _turn(step: Step) -> tuple[datetime, bool]:
    """A document comes to its new path before it leaves the old one."""
    return step.row["created_at"], step.row["came_from"] is None


def _paths(snapshot: ReaderSnapshot, path: str) -> list[str]:
    """The path, and every path that a document came from to one of them."""
    found = [path]
    for each in found:
        origins = snapshot.fetch("origins", {"path": each}, "versions")
        found += [row["path"] for row in origins if row["path"] not in found]
    return found


def _words(line: bytes) -> bytes:
    return line.rstrip(b"\r\n")
