"""The passages of a document from its beginning to now, made again from its events."""

from dataclasses import dataclass, field
from heapq import merge
from typing import TYPE_CHECKING

from garden.events.passages import PassageRow, StandingPassage
from garden.events.rows import Row, splices_of
from garden.events.snapshots import ReaderSnapshot
from garden.files.paths import GardenPath
from garden.grammar.canonical import decoded
from garden.grammar.document import Document
from garden.grammar.parser import parse
from garden.grammar.splice import apply_to_bytes
from garden.writing.indexing import Indexing

if TYPE_CHECKING:
    from datetime import datetime


@dataclass
class Stage:
    """A document after some of its events, and the passages that stand in it then."""

    path: GardenPath
    data: bytes = b""
    document: Document | None = None
    version: int = 0
    sequence: int = 0
    live: dict[int, StandingPassage] = field(default_factory=dict)


class History:
    """The passages of a document, each with the event that its text came with.

    The events of the document, and of those that it was moved from, are followed in their order, with one
    version of each at a time. Passages that went, or got another heading, are kept as they were, unless they
    may have lost words to an erasure.
    """

    def __init__(self, indexing: Indexing, path: GardenPath) -> None:
        self._indexing = indexing
        self.now = Stage(path)
        self.gone: list[StandingPassage] = []
        self._stages = {path.text: self.now}
        self._near_gaps: set[datetime] = set()

    def follow(self, snapshot: ReaderSnapshot) -> None:
        """Follow the events that are new since the last time."""
        for path in (found := list(self._stages)):
            for origin in snapshot.fetch("origins", {"path": path, "after": self._stages[path].sequence}):
                if origin["path"] not in self._stages:
                    self._stages[origin["path"]] = Stage(GardenPath(origin["path"]))
                    found.append(origin["path"])
        texts = (
            snapshot.rows("versions", {"path": path}, after=stage.sequence)
            for path, stage in self._stages.items()
        )
        # Passages come to a document before they leave another one.
        for row in merge(*texts, key=lambda each: (each["created_at"], each["came_from"] is None)):
            self._apply(self._stages[row["stream"]], row)

    def _apply(self, stage: Stage, row: Row) -> None:
        stage.data, before = apply_to_bytes(stage.data, splices_of(row) or ()), stage.document
        stage.document = parse(decoded(stage.data), before) if row["leaves_file"] else None
        stage.version, stage.sequence = row["document_version"], row["sequence"]
        origin, at = row["came_from"], row["created_at"]
        changes = self._indexing.changes(stage.path, before, stage.document, stage.version, at, origin)
        went = {number: stage.live.pop(number) for number in changes.gone if number in stage.live}
        ended = [*went.values()]
        left = self._stages[origin].live if origin else went
        for each in changes.come:
            known = stage.live.get(each.passage)
            placed = _placed(known, each) if known else _new(each, row, left)
            if known and known.row.heading != each.heading:
                ended.append(known)
                placed = placed._replace(since=at)
            stage.live[each.passage] = placed
        if stage is self.now:
            # A row without a gap in its first version has none in a later one.
            self.gone += [each._replace(until=at) for each in ended if each.since not in self._near_gaps]
            if row["is_near_gap"]:
                self._near_gaps.add(at)


def _placed(known: StandingPassage, row: PassageRow) -> StandingPassage:
    """A known passage at another place; it keeps its event, and its day if its text names none."""
    return known._replace(row=row if row.is_dated else row._replace(day=known.row.day))


def _new(row: PassageRow, event: Row, left: dict[int, StandingPassage]) -> StandingPassage:
    """A passage that came with an event, perhaps from the place that it has left."""
    was = left.get(row.was) if row.was is not None else None
    new = StandingPassage(row, event["event_id"], event["created_at"])
    return _placed(was, row)._replace(since=new.since) if was else new
