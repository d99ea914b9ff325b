"""Settling: an interrupted change is finished or undone, as its file shows.

The caller holds the document's lock, which proves that the writer is gone.
"""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from garden.events.idempotency import EarlierRequest
from garden.events.payloads import EditPayload, MovePayload
from garden.events.reader import EventReader, Query
from garden.events.records import Event, head_after
from garden.events.saga import StaleStateError, Status
from garden.events.store import EventStore
from garden.events.stream import LockedStream
from garden.files.errors import FileMissingError
from garden.files.failpoints import Failpoint, reach
from garden.files.garden_files import FileText, GardenFiles
from garden.files.paths import GardenPath
from garden.grammar.parser import parse
from garden.grammar.splice import apply_splices, reverse_splices
from garden.writing.departures import EMPTY_HASH
from garden.writing.indexing import Indexing
from garden.writing.planner import ARCHIVE_OP, MOVE_OP, keeps_copy

_RECENT_EVENTS = 20

STALLED = {
    "code": "stalled_before_write",
    "message": "The change was begun, and its writer went away before it wrote.",
}
CONFLICT = {
    "code": "conflict",
    "message": "The file holds neither the text before nor the text that was to be written.",
}


@dataclass(frozen=True)
class SagaSettler:
    """Finishes interrupted changes whose text is in the file, and fails the others."""

    store: EventStore
    reader: EventReader
    files: GardenFiles
    indexing: Indexing

    def settle(self, stream: LockedStream, path: GardenPath) -> Event | None:
        """Settle the open change of this document, if there is one, and keep the lock.

        Without an open change, what an earlier write could not bring to the disk goes there now.
        """
        self.files.confirm(path)
        open_event_id = stream.head.open_event_id
        if open_event_id is None:
            return None
        event = self.reader.event(path.user_id, open_event_id)
        if event is None:
            raise StaleStateError(
                f"Event {open_event_id} is open and can't be found.", hint="Run 'garden keys verify'."
            )
        reach(Failpoint.STALLED_READ)
        self.files.strays.remove(path)
        self._undo_half_move(stream, path, event)
        ended = self._settle_event(stream, path, event)
        reach(Failpoint.SETTLED)
        _update_earlier(stream, ended)
        return ended

    def foresee(self, stream: LockedStream, path: GardenPath) -> None:
        """Treat the open change as settling would leave it, and record nothing; the lock is for a preview."""
        open_event_id = stream.head.open_event_id
        event = self.reader.event(path.user_id, open_event_id) if open_event_id else None
        if event is None:
            return
        file = self.read(path)
        is_written = self._written_text(path, event, file) is not None
        ended = event._replace(status=Status.COMMITTED if is_written else Status.FAILED)
        if is_written and (file.hash if file else None) == event.file_hash:
            stream.head = head_after(stream.head._replace(open_event_id=None), ended)
        _update_earlier(stream, ended)

    def _settle_event(self, stream: LockedStream, path: GardenPath, event: Event) -> Event:
        file = self._roll_forward(path, event, self.read(path))
        written = self._written_text(path, event, file)
        if written is not None:
            # The writer may have stopped because the disk did not confirm, or before it could.
            self.files.make_durable(path)
            reach(Failpoint.CONFIRMED)
            self._complete_history(path, event, written)
            reach(Failpoint.COPIED)
            response, passages = intended_response(event), self._passages(path, event)
            if event.status is Status.PENDING:
                return stream.finish(event, response, keep=True, passages=passages)
            return stream.commit(event, response, keep=True, passages=passages)
        # Also if the file was edited in place since: that edit has reached the link as well.
        self._drop_link(path, event)
        current = file.hash if file else None
        stalled = current == event.before_raw_hash or (current is None and _was_missing(event))
        return stream.fail(event, STALLED if stalled else CONFLICT, keep=True)

    def _roll_forward(self, path: GardenPath, event: Event, file: FileText | None) -> FileText | None:
        """Write the text of a change that belongs to a transaction, if the file is still as before it."""
        payload = event.statement.edit
        if not (isinstance(payload, EditPayload) and payload.in_transaction):
            return file
        if (file.hash if file else None) != event.before_raw_hash:
            return file
        text = apply_splices(file.text if file else "", event.splices or ())
        self.files.replace(path, text.encode(), expected=file.hash if file else None)
        reach(Failpoint.ROLLED_FORWARD)
        return self.read(path)

    def _passages(self, path: GardenPath, event: Event) -> str | None:
        """What the change of an event does to the passages of its document."""
        if event.document_version is None:
            return None
        before, after = self._texts_of(path, event)
        move = event.statement.edit
        return self.indexing.encoded_changes(
            path,
            parse(before) if before else None,
            parse(after) if event.leaves_file else None,
            event.document_version,
            event.created_at,
            move.from_path if isinstance(move, MovePayload) else None,
        )

    def _undo_half_move(self, stream: LockedStream, path: GardenPath, event: Event) -> None:
        """Remove the new name of a document that still has its old one: its move was interrupted.

        This needs the lock of the new path too. Two processes that each removed one name would lose the file.
        """
        move = event.statement.edit
        if not isinstance(move, MovePayload):
            return
        old, new = GardenPath(move.from_path or path.text), GardenPath(move.to_path or path.text)
        # Before the loss of the old name is confirmed, or a power failure could leave neither.
        self.files.confirm_name(new)
        with suppress(FileMissingError):
            if self.files.is_same_file(old, new):
                with self.store.lock_second(stream, new.text):
                    self.files.drop_second_name(new, old)

    def _written_text(self, path: GardenPath, event: Event, file: FileText | None) -> str | None:
        """The text that a change wrote, if it did; the file may have been edited since.

        Such an edit must not undo the change. A caller may have got an answer for it; a caller without an
        answer asks again, and the same words would be there twice.
        """
        if (file.hash if file else None) == event.file_hash:
            is_lost = file is None and not self._has_arrived(event)
            return None if is_lost else file.text if file else ""
        if file is None or event.splices is None or file.hash == event.before_raw_hash:
            return None
        before, after = self._texts_of(path, event)
        return after if _holds(file.text, before, after) else None

    def holds_change(self, path: GardenPath, event: Event, text: str) -> bool:
        """Whether a text still has the change of an event; its line in the Change Log may have gone."""
        if event.statement.op == ARCHIVE_OP:
            return not text
        texts = (text, *self._texts_of(path, event))
        now, before, after = (_without_lines_of(str(event.event_id), each) for each in texts)
        # Of a change of white space it is only known whether it was undone.
        only_space = now != before and _lines(before) == _lines(after)
        return now == after or only_space or _holds(now, before, after)

    def _texts_of(self, path: GardenPath, event: Event) -> tuple[str, str]:
        """The text before the change of an event, and the text after it."""
        version = (event.document_version or 1) - 1
        before = self.reader.text_at(path.user_id, path.text, version) if version else ""
        return before, apply_splices(before, event.splices or ())

    def _has_arrived(self, departure: Event) -> bool:
        """Whether a document that has left its old path is at the new one.

        If a person deleted it, or the disk lost both names, it is reported as missing.
        """
        move = departure.statement.edit
        if not isinstance(move, MovePayload) or move.to_path is None:
            return True
        new = GardenPath(move.to_path)
        there = self.read(new)
        if there is not None and there.hash == departure.before_raw_hash:
            return True
        page = self.reader.query(new.user_id, Query(path=new.text, op=MOVE_OP, limit=_RECENT_EVENTS))
        origin = MovePayload(from_path=departure.statement.path)
        arrival = next((each for each in page.events if each.statement.edit == origin), None)
        if arrival is None or arrival.status is Status.FAILED:
            return False
        # A file was edited since; without a file the arrival's event shows what happened.
        return there is not None or arrival.status is Status.COMMITTED

    def read(self, path: GardenPath) -> FileText | None:
        """Read a document's file, or return None if there is none."""
        try:
            return self.files.read(path)
        except FileMissingError:
            return None

    def _complete_history(self, path: GardenPath, event: Event, text: str) -> None:
        if event.before_raw_hash in {None, EMPTY_HASH} or not keeps_copy(path, event.statement.op):
            return
        copy = path.copy_of(event.created_at, event.event_id)
        # An editor that had the old file open may have written into the copy. Those words are a person's, and
        # stay; the version replaced is in the event log.
        if not self.files.history.confirm(copy) and event.splices is not None:
            self.files.history.write(copy, apply_splices(text, reverse_splices(event.splices)).encode())

    def _drop_link(self, path: GardenPath, event: Event) -> None:
        with suppress(FileMissingError):
            self.files.history.drop_link(path.copy_of(event.created_at, event.event_id))


def intended_response(event: Event) -> Mapping[str, Any]:
    """The answer that was planned for the request of an event."""
    payload = event.statement.edit
    answer = payload.answer if isinstance(payload, EditPayload | MovePayload) else None
    return {**(answer or {}), "eventId": str(event.event_id)}


def _was_missing(event: Event) -> bool:
    """Whether the file was missing when an event began."""
    return isinstance(event.statement.edit, EditPayload) and bool(event.statement.edit.file_was_missing)


def _holds(text: str, before: str, after: str) -> bool:
    """Whether a text has every line that a change added, and none that it removed."""
    there, old, new = _lines(text), _lines(before), _lines(after)
    added, removed = new - old, old - new
    return (
        bool(added or removed)
        and all(there[line] >= new[line] for line in added)
        and all(there[line] <= new[line] for line in removed)
    )


def _lines(text: str) -> Counter[str]:
    return Counter(filter(str.strip, text.splitlines()))


def _without_lines_of(event_id: str, text: str) -> str:
    return "\n".join(line for line in text.splitlines() if event_id not in line)


def _update_earlier(stream: LockedStream, ended: Event) -> None:
    if stream.earlier is None or stream.earlier.event_id != ended.event_id:
        return
    committed = ended.status is Status.COMMITTED
    stream.earlier = EarlierRequest(ended.event_id, intended_response(ended)) if committed else None
