"""Snapshots: copies of the current version in the history, at most one per version."""

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
    """The snapshot that a caller wants, and why."""

    path: GardenPath
    tool: str
    rationale: str | None = None
    evidence_refs: tuple[str, ...] = ()
    if_match: str | None = None
    dry_run: bool = False


@dataclass(frozen=True)
class HistorySnapshot:
    """The path of the copy, and the event that recorded it, if any."""

    history_path: str
    event_id: UUID | None
    is_new: bool
    replayed: bool = False


@dataclass(frozen=True)
class Snapshots:
    """Takes snapshots."""

    store: EventStore
    reader: EventReader
    files: GardenFiles
    write_path: WritePath
    disk_space: DiskSpace

    def take(
        self, caller: Caller, intent: SnapshotIntent, request: RequestIdentity | None
    ) -> HistorySnapshot:
        """Copy the current version; only a request with the caller's own key is remembered."""
        with (
            self.store.document(caller, intent.path.text) as stream,
            self.store.lock_second(stream, JOURNAL, request) as journal,
        ):
            if journal.earlier is not None:
                return self._replay(caller, journal.earlier.event_id)
            document = self._current(stream, intent)
            known = self._existing(caller, intent.path, intent.tool, document)
            if known is not None:
                return known
            name = journal.next_name()
            copy = intent.path.copy_of(name.at, name.event_id)
            if intent.dry_run:
                return HistorySnapshot(copy.text, None, is_new=True)
            self.disk_space.check()
            # No event records an interrupted snapshot, so the next one removes its strays.
            self.files.strays.remove(intent.path)
            # The copy comes first: without its event it is only an extra copy.
            self.files.history.write(copy, document.text.encode())
            event = journal.record(_statement(intent, copy, document), name=name)
            return HistorySnapshot(copy.text, event.event_id, is_new=True)

    def _current(self, stream: LockedStream, intent: SnapshotIntent) -> GardenDocument:
        if intent.dry_run:
            opened = self.write_path.open_without_adopting(stream, intent.path)
        else:
            self.write_path.settle(stream, intent.path)
            opened = self.write_path.open_and_adopt(stream, intent.path)
        if opened.current is None:
            raise FileMissingError
        check_precondition(intent.if_match, opened.current)
        return opened.current

    def _existing(
        self, caller: Caller, path: GardenPath, tool: str, document: GardenDocument
    ) -> HistorySnapshot | None:
        found = self.reader.query(caller.user_id, Query(path=path.text, op=OP, limit=_RECENT_EVENTS)).events
        # An event of events.log may have the same op.
        newest = [event for event in found if event.statement.tool == tool]
        if not newest:
            return None
        details = _details(newest[0].statement)
        if details.get("rawHash") != document.raw_hash or not self.files.exists(
            GardenPath(details["historyPath"])
        ):
            return None
        return HistorySnapshot(details["historyPath"], newest[0].event_id, is_new=False)

    def _replay(self, caller: Caller, event_id: UUID) -> HistorySnapshot:
        event = self.reader.event(caller.user_id, event_id)
        details = _details(event.statement) if event else {}
        return HistorySnapshot(details.get("historyPath", ""), event_id, is_new=False, replayed=True)


def _statement(intent: SnapshotIntent, copy: GardenPath, document: GardenDocument) -> Statement:
    return Statement(
        type="snapshot",
        op=OP,
        tool=intent.tool,
        path=intent.path.text,
        entity=entity_of(intent.path),
        rationale=intent.rationale,
        evidence_refs=intent.evidence_refs,
        edit={"historyPath": copy.text, "rawHash": document.raw_hash},
    )


def _details(statement: Statement) -> dict[str, Any]:
    return dict(statement.edit or {})
