"""Snapshots: copies of the current version in the history, one for each version however often asked for."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from garden.events.idempotency import RequestIdentity
from garden.events.reader import EventReader, Query
from garden.events.records import JOURNAL, Caller, Statement
from garden.events.store import EventStore
from garden.events.stream import LockedStream
from garden.files.errors import FileMissingError
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.home.disk_space import DiskSpace
from garden.writing.documents import GardenDocument
from garden.writing.planner import check_precondition, entity_of
from garden.writing.write_path import WritePath

OP = "snapshot_history"
_RECENT_EVENTS = 20


@dataclass(frozen=True, kw_only=True)
class SnapshotIntent:
    """Of what a copy is wanted, and why."""

    path: GardenPath
    tool: str
    rationale: str | None = None
    evidence_refs: tuple[str, ...] = ()
    if_match: str | None = None
    dry_run: bool = False


@dataclass(frozen=True)
class HistorySnapshot:
    """Where the copy is, and which event tells of it; none where nothing was recorded."""

    history_path: str
    event_id: UUID | None
    is_new: bool
    replayed: bool = False


class Snapshots:
    """Makes copies of versions."""

    def __init__(
        self,
        store: EventStore,
        reader: EventReader,
        files: GardenFiles,
        write_path: WritePath,
        disk_space: DiskSpace,
    ) -> None:
        self._store = store
        self._reader = reader
        self._files = files
        self._write_path = write_path
        self._disk_space = disk_space

    def take(self, caller: Caller, wish: SnapshotIntent, request: RequestIdentity | None) -> HistorySnapshot:
        """Copy the current version; a request is only remembered under a key of the caller's own."""
        with (
            self._store.document(caller, wish.path.text) as stream,
            self._store.lock_second(stream, JOURNAL, request) as journal,
        ):
            if journal.earlier is not None:
                return self._remembered(caller, journal.earlier.event_id)
            standing = self._current(stream, wish)
            known = self._known(caller, wish.path, wish.tool, standing)
            if known is not None:
                return known
            name = journal.next_name()
            copy = wish.path.copy_of(name.at, name.event_id)
            if wish.dry_run:
                return HistorySnapshot(copy.text, None, is_new=True)
            self._disk_space.check()
            # No event tells of a snapshot that was cut off, so whoever takes the next one clears up after it.
            self._files.strays.remove(wish.path)
            # The copy comes first: one without an event is only a copy too many.
            self._files.history.write(copy, standing.text.encode())
            event = journal.record(_said(wish, copy, standing), name=name)
            return HistorySnapshot(copy.text, event.event_id, is_new=True)

    def _current(self, stream: LockedStream, wish: SnapshotIntent) -> GardenDocument:
        if wish.dry_run:
            opened = self._write_path.open_without_adopting(stream, wish.path)
        else:
            self._write_path.settle(stream, wish.path)
            opened = self._write_path.open_and_adopt(stream, wish.path)
        if opened.current is None:
            raise FileMissingError
        check_precondition(wish.if_match, opened.current)
        return opened.current

    def _known(
        self, caller: Caller, path: GardenPath, tool: str, standing: GardenDocument
    ) -> HistorySnapshot | None:
        found = self._reader.query(caller.user_id, Query(path=path.text, op=OP, limit=_RECENT_EVENTS)).events
        # What was only said, with events.log, may bear the same op.
        newest = [event for event in found if event.statement.tool == tool]
        if not newest:
            return None
        told = _told(newest[0].statement)
        if told.get("rawHash") != standing.raw_hash or not self._files.exists(
            GardenPath(told["historyPath"])
        ):
            return None
        return HistorySnapshot(told["historyPath"], newest[0].event_id, is_new=False)

    def _remembered(self, caller: Caller, event_id: UUID) -> HistorySnapshot:
        event = self._reader.event(caller.user_id, event_id)
        told = _told(event.statement) if event else {}
        return HistorySnapshot(told.get("historyPath", ""), event_id, is_new=False, replayed=True)


def _said(wish: SnapshotIntent, copy: GardenPath, standing: GardenDocument) -> Statement:
    return Statement(
        type="snapshot",
        op=OP,
        tool=wish.tool,
        path=wish.path.text,
        entity=entity_of(wish.path),
        rationale=wish.rationale,
        evidence_refs=wish.evidence_refs,
        edit={"historyPath": copy.text, "rawHash": standing.raw_hash},
    )


def _told(statement: Statement) -> dict[str, Any]:
    return dict(statement.edit or {})
