"""Snapshots: copies of the current version in the history, at most one per version."""

from dataclasses import dataclass, replace

from garden.events.idempotency import EarlierRequest, RequestIdentity
from garden.events.payloads import SnapshotPayload
from garden.events.reader import EventReader, Query
from garden.events.records import JOURNAL, Caller
from garden.events.store import EventStore
from garden.events.stream import LockedStream
from garden.files.errors import FileMissingError, FileTooLargeError, NotTextError
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.home.disk_space import DiskSpace
from garden.writing.documents import GardenDocument
from garden.writing.file_wishes import FileWish
from garden.writing.outcomes import WriteOutcome
from garden.writing.replays import replay_outcome
from garden.writing.write_path import WritePath

OP = "snapshot_history"
_RECENT_EVENTS = 20


@dataclass(frozen=True)
class Snapshots:
    """Takes snapshots."""

    store: EventStore
    reader: EventReader
    files: GardenFiles
    write_path: WritePath
    disk_space: DiskSpace

    def take(self, caller: Caller, intent: FileWish, request: RequestIdentity | None) -> WriteOutcome:
        """Copy the current version; only a request with the caller's own key is remembered."""
        with (
            self.store.document(caller, intent.path.text) as stream,
            self.store.lock_second(stream, JOURNAL, request) as journal,
        ):
            if journal.earlier is not None:
                return self._replay(caller, journal.earlier)
            document = self._current(stream, intent)
            known = self._existing(caller, intent.path, intent.tool, document)
            if known is not None:
                return known
            name = journal.next_name()
            copy = intent.path.copy_of(name.at, name.event_id)
            kept = SnapshotPayload(history_path=copy.text, raw_hash=document.raw_hash)
            statement = intent.statement(intent.path, "snapshot", OP, kept)
            self.write_path.erased_text.refuse_statement(journal, statement)
            self.disk_space.check()
            if intent.dry_run:
                return _outcome(copy.text)
            # No event records an interrupted snapshot, so the next one removes its strays.
            self.files.strays.remove(intent.path)
            # The copy comes first: without its event it is only an extra copy.
            self.files.history.write(copy, document.text.encode())
            event = journal.record(statement, name=name)
            return replace(_outcome(copy.text), event_id=event.event_id)

    def _current(self, stream: LockedStream, intent: FileWish) -> GardenDocument:
        if intent.dry_run:
            self.write_path.settler.foresee(stream, intent.path)
            opened = self.write_path.open_without_adopting(stream, intent.path)
        else:
            self.write_path.settler.settle(stream, intent.path)
            opened = self.write_path.open_and_adopt(stream, intent.path)
        if opened.current is None:
            raise FileMissingError
        intent.check(opened.current)
        return opened.current

    def _existing(
        self, caller: Caller, path: GardenPath, tool: str, document: GardenDocument
    ) -> WriteOutcome | None:
        found = self.reader.query(caller.user_id, Query(path=path.text, op=OP, limit=_RECENT_EVENTS)).events
        # An event of events.log may have the same op.
        newest = [event for event in found if event.statement.tool == tool]
        if not newest:
            return None
        copy = newest[0].statement.edit
        if not isinstance(copy, SnapshotPayload) or copy.raw_hash != document.raw_hash:
            return None
        if not self._is_kept(copy):
            return None
        return replace(_outcome(copy.history_path), event_id=newest[0].event_id, unchanged=True)

    def _replay(self, caller: Caller, earlier: EarlierRequest) -> WriteOutcome:
        event = self.reader.event(caller.user_id, earlier.event_id)
        copy = event.statement.edit if event else None
        path = copy.history_path if isinstance(copy, SnapshotPayload) else ""
        stands = isinstance(copy, SnapshotPayload) and self._is_kept(copy)
        since = "The copy is still as it was." if stands else "The copy has gone or changed since."
        return replace(replay_outcome(earlier, since, stands=stands), result=_outcome(path).result)

    def _is_kept(self, copy: SnapshotPayload) -> bool:
        """Whether a copy is there, and holds what was copied."""
        try:
            return self.files.read(GardenPath(copy.history_path)).hash == copy.raw_hash
        except (FileMissingError, FileTooLargeError, NotTextError):
            return False


def _outcome(history_path: str) -> WriteOutcome:
    return WriteOutcome({"historyPath": history_path})
