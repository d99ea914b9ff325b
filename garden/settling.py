"""Settling: a change that was begun and never ended is brought to the end that its file speaks for.

Only whoever holds the document's lock may do this; that they have it proves that the one who began is gone.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from events.idempotency import Earlier
from events.reading import EventReader
from events.records import Event
from events.saga import StaleStateError, Status
from events.stream import LockedStream
from garden.file_errors import FileExistsAlreadyError, FileMissingError
from garden.files import GardenFiles
from garden.paths import GardenPath
from garden.plain_files import raw_hash
from garden.planning import keeps_copy

NOTHING_HASH = raw_hash(b"")

STALLED = {
    "code": "stalled_before_write",
    "message": "The change was begun, and its writer went away before it wrote.",
}
CONFLICT = {
    "code": "conflict",
    "message": "The file holds neither what was there before nor what was to be written.",
}


class Settlement:
    """Ends open changes, forward where the file holds the new text, backward where it holds the old one."""

    def __init__(self, reader: EventReader, files: GardenFiles) -> None:
        self._reader = reader
        self._files = files

    def settle(self, stream: LockedStream, path: GardenPath) -> Event | None:
        """End the open change of this document, if there is one; the lock stays."""
        open_event_id = stream.head.open_event_id
        if open_event_id is None:
            return None
        event = self._reader.event(path.user_id, open_event_id)
        if event is None:
            raise StaleStateError(
                f"Event {open_event_id} is open and can't be found.", hint="Run 'garden keys verify'."
            )
        self._files.remove_strays(path)
        ended = self._ended(stream, path, event)
        _answer_again(stream, ended)
        return ended

    def _ended(self, stream: LockedStream, path: GardenPath, event: Event) -> Event:
        current = self.raw_hash_of(path)
        if current in _alike(event.intended_raw_hash):
            # Who began may have been stopped by a disk that did not confirm, or before it could.
            self._files.make_durable(path)
            self._complete_history(path, event)
            response = intended_response(event)
            if event.status is Status.PENDING:
                return stream.finish(event, response, keep=True)
            return stream.commit(event, response, keep=True)
        # Also where somebody edited the file in place since: that edit has reached the link as well.
        self._drop_link(path, event)
        stalled = current in _alike(event.before_raw_hash)
        return stream.fail(event, STALLED if stalled else CONFLICT, keep=True)

    def raw_hash_of(self, path: GardenPath) -> str | None:
        """Hash the file that is there, if there is one."""
        try:
            return self._files.read(path).hash
        except FileMissingError:
            return None

    def _complete_history(self, path: GardenPath, event: Event) -> None:
        if event.before_raw_hash in _alike(None) or not keeps_copy(path, event.statement.op):
            return
        before = self._reader.text_at(path.user_id, path.text, (event.document_version or 1) - 1)
        # An editor that had the old file open may have written into what is the copy by now. Those words are
        # somebody's; what was replaced stands in the account.
        with suppress(FileExistsAlreadyError):
            self._files.write_history_copy(path.copy_of(event.created_at, event.event_id), before.encode())

    def _drop_link(self, path: GardenPath, event: Event) -> None:
        with suppress(FileMissingError):
            self._files.drop_history_link(path.copy_of(event.created_at, event.event_id))


def intended_response(event: Event) -> Mapping[str, Any]:
    """Give the answer that was planned for the request behind an event."""
    response: Mapping[str, Any] = (event.statement.edit or {}).get("answer", {})
    return {**response, "eventId": str(event.event_id)}


def _alike(raw: str | None) -> set[str | None]:
    """Give what a file may hash to that should have this hash: one that is moved away leaves nothing."""
    return {raw, None, NOTHING_HASH} if raw in {None, NOTHING_HASH} else {raw}


def _answer_again(stream: LockedStream, ended: Event) -> None:
    if stream.earlier is None or stream.earlier.event_id != ended.event_id:
        return
    committed = ended.status is Status.COMMITTED
    stream.earlier = Earlier(ended.event_id, intended_response(ended)) if committed else None
