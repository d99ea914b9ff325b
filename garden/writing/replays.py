"""Replays: the stored answer for a request that was carried out before, and what is left of its effect."""

from dataclasses import dataclass
from uuid import UUID

from garden.events.idempotency import EarlierRequest, InProgressError
from garden.events.payloads import MovePayload
from garden.events.reader import EventReader, Query
from garden.events.records import Event
from garden.events.saga import Status
from garden.events.stream import LockedStream
from garden.files.errors import FileTooLargeError, NotTextError
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.grammar.canonical import raw_hash
from garden.writing.lost_writes import LostWrites
from garden.writing.outcomes import WriteOutcome
from garden.writing.planner import MOVE_OP
from garden.writing.settlement import SagaSettler

REPLAY_HINT = "This is the earlier answer. Send an idempotencyKey of its own to carry it out again."
_NOT_AGAIN = "This request was carried out before, and not again."
AS_LEFT = "The document is still as it left it."
_MOVED = "The document is still at its new path."
_CHANGED = "The document has changed since, and still has this change."
_UNDONE = "The document has changed since, and no longer has this change."
_MISSING = "The document's file has gone since, or can no longer be read."
_NOT_THERE = "A person's edit came before this change, or the document has gone since."
_MOVED_ON = "The document is no longer at its new path."
_RECENT_MOVES = 20


@dataclass(frozen=True)
class Replays:
    """Finds the requests that were carried out before; the stream has been settled."""

    reader: EventReader
    files: GardenFiles
    settler: SagaSettler
    lost_writes: LostWrites

    def of_edit(self, stream: LockedStream, path: GardenPath, *, records: bool) -> WriteOutcome | None:
        """The replay of the caller's edit, or None if it is a new request."""
        earlier = answered_request(stream)
        if earlier is None:
            return None
        text = self._text(stream, path, records=records)
        if text is not None and _is_as_left(stream, earlier.event_id, text):
            return replay_outcome(earlier, AS_LEFT, stands=True)
        if is_new_request(stream, records=records):
            return None
        if text is None:
            return replay_outcome(earlier, _MISSING, stands=False)
        event = self.reader.event(path.user_id, earlier.event_id)
        stands = event is not None and self.settler.holds_change(path, event, text)
        return replay_outcome(earlier, _CHANGED if stands else _UNDONE, stands=stands)

    def effect_of(self, stream: LockedStream, event: Event) -> tuple[str, bool]:
        """What has become of the effect of a settled event, and whether it stands."""
        path = GardenPath(stream.path)
        text = self._text(stream, path, records=True) if event.status is Status.COMMITTED else None
        if text is None:
            return _NOT_THERE, False
        if _is_as_left(stream, event.event_id, text):
            return AS_LEFT, True
        stands = self.settler.holds_change(path, event, text)
        return _CHANGED if stands else _UNDONE, stands

    def _text(self, stream: LockedStream, path: GardenPath, *, records: bool) -> str | None:
        """The document's text, or None if it has no file, or none that can be read.

        A file that a power failure set back counts as rebuilt, or its change would be carried out twice.
        """
        try:
            file = self.settler.read(path)
        except (FileTooLargeError, NotTextError):
            return None
        if file is None:
            return None
        if records:
            return (self.lost_writes.rebuild(stream, path, file) or file).text
        return self.lost_writes.newest_text(stream, path, file) or file.text

    def of_move(
        self,
        source: LockedStream,
        target: LockedStream,
        path: GardenPath,
        new_path: GardenPath,
        *,
        records: bool,
    ) -> WriteOutcome | None:
        """The replay of the caller's move, or None if it is a new request."""
        earlier = answered_request(source)
        if earlier is None:
            return None
        stands = self._is_still_there(target, path, new_path)
        is_newest = source.head.head_event_id == earlier.event_id and not self.files.exists(path)
        if not (is_newest and stands) and is_new_request(source, records=records):
            return None
        return replay_outcome(earlier, _MOVED if stands else _MOVED_ON, stands=stands)

    def _is_still_there(self, target: LockedStream, path: GardenPath, new_path: GardenPath) -> bool:
        """Whether a document that was moved here has not moved on."""
        page = self.reader.query(path.user_id, Query(path=new_path.text, op=MOVE_OP, limit=_RECENT_MOVES))
        # In a preview an interrupted move counts as settled, and the event log does not know that yet.
        moves = (
            event.statement.edit
            for event in page.events
            if event.document_version
            and (event.status is Status.COMMITTED or event.event_id == target.head.head_event_id)
        )
        return next(moves, None) == MovePayload(from_path=path.text) and self.files.exists(new_path)


def answered_request(stream: LockedStream) -> EarlierRequest | None:
    """The earlier request of the same key, which has its answer; one still running is refused."""
    if stream.earlier is not None and stream.earlier.response is None:
        raise InProgressError(
            "The same request is being carried out.",
            hint="Send it again in a moment to get its answer.",
        )
    return stream.earlier


def _is_as_left(stream: LockedStream, event_id: UUID, text: str) -> bool:
    is_newest = stream.head.head_event_id == event_id
    return is_newest and raw_hash(text.encode()) == stream.head.file_hash


def is_new_request(stream: LockedStream, *, records: bool) -> bool:
    """Whether the same words are a request of their own, now that something else has changed."""
    if stream.request is None or not stream.request.only_while_newest:
        return False
    if records:
        stream.forget_earlier()
    return True


def replay_outcome(earlier: EarlierRequest, since: str, *, stands: bool) -> WriteOutcome:
    """The stored answer, marked as a replay."""
    response = earlier.response or {}
    return WriteOutcome(
        response.get("result"),
        earlier.event_id,
        replayed=True,
        warnings=(replay_warning(since), *response.get("warnings", ())),
        hint=REPLAY_HINT,
        also={"effectStands": stands},
    )


def replay_warning(since: str) -> str:
    """The warning of a replay, with what has changed `since`."""
    return f"{_NOT_AGAIN} {since}"
