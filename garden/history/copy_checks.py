"""History copies compared with the events: which event left a copy, and what the copy must hold."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple
from uuid import UUID

from garden.events.parts import EVENT_PARTS, erased_parts
from garden.events.payloads import SnapshotPayload
from garden.events.reader import EventReader
from garden.events.records import Event
from garden.events.row_checks import Tail
from garden.events.rows import Row
from garden.events.saga import Status
from garden.events.snapshots import ReaderSnapshot
from garden.events.version_texts import VERSION_MAX, VersionTexts
from garden.files.errors import FileError, FileMissingError
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.grammar.canonical import encoded, raw_hash
from garden.grammar.errors import GardenError
from garden.history.faults import Fault, Part
from garden.writing.adoption import ADOPTED_TYPE
from garden.writing.planner import keeps_copy

_MISSING = "it is missing"
_ID = slice(-39, -3)


class SnapshotCopy(NamedTuple):
    """A copy that an agent asked for; without a hash, which an erasure takes, it is some version."""

    copy: GardenPath
    event_id: UUID
    raw_hash: str | None
    may_be_gone: bool


class CopyChecks:
    """Compares the copies of one document with its events, which are shown in their order."""

    def __init__(
        self,
        files: GardenFiles,
        path: GardenPath,
        snapshots: Sequence[SnapshotCopy],
        whole_erasures: frozenset[UUID],
    ) -> None:
        self.faults: list[Fault] = []
        self._files = files
        self._path = path
        self._whole_erasures = whole_erasures
        self._unseen = {copy.name: copy for copy in _copies_of(files, path)}
        self._named = {name[_ID] for name in self._unseen}
        # Each holds some version, or there is a fault.
        self._unhashed: dict[GardenPath, Fault] = {}
        for each in snapshots:
            self._check_snapshot(each)

    def see(self, row: Row, tail: Tail) -> None:
        """Check the copy of an event, if it left one; `tail` has the version that it replaced."""
        is_kept = bool(tail.data) and leaves_copy(self._path, row)
        if not is_kept and str(row["event_id"]) not in self._named:
            return
        copy = self._path.copy_of(row["created_at"], row["event_id"])
        if self._unseen.pop(copy.name, None) or is_kept:
            may_be_gone = not is_kept or is_wholly_erased(row, tail, self._whole_erasures)
            self._compare(copy, row["event_id"], tail.raw_hash, tail.version, may_be_gone=may_be_gone)

    def finish(self, snapshot: ReaderSnapshot, reader: EventReader, after: int) -> None:
        """Check the copies that no event has claimed; those of events up to `after` are left out."""
        for copy in self._unseen.values():
            event_id = UUID(copy.name[_ID])
            rows = snapshot.fetch("event", {"event_id": event_id})
            is_earlier = after and any(row["path"] == self._path.text for row in rows)
            # An event that was recorded after this moment may have left it.
            if not is_earlier and (rows or reader.event(copy.user_id, event_id) is None):
                self._unhashed[copy] = _fault(copy, None, "no event left it, and it holds no version", None)
        if self._unhashed:
            self.faults += _without_version(self._files, snapshot, self._path, self._unhashed)

    def _check_snapshot(self, each: SnapshotCopy) -> None:
        self._unseen.pop(each.copy.name, None)
        if each.raw_hash is not None:
            self._compare(each.copy, each.event_id, each.raw_hash, None, may_be_gone=each.may_be_gone)
        elif not each.may_be_gone or _problem(self._files, each.copy, None) != _MISSING:
            self._unhashed[each.copy] = _fault(
                each.copy, each.event_id, "it is missing, or holds no version", None
            )

    def _compare(
        self,
        copy: GardenPath,
        event_id: UUID,
        expected: str | None,
        version: int | None,
        *,
        may_be_gone: bool,
    ) -> None:
        problem = _problem(self._files, copy, expected)
        if problem and not (may_be_gone and problem == _MISSING):
            self.faults.append(_fault(copy, event_id, problem, version))


def leaves_copy(path: GardenPath, row: Row) -> bool:
    """Whether an event leaves a copy of the version that it replaces, unless that one is empty."""
    is_change = row["status"] == Status.COMMITTED and row["document_version"] is not None
    return is_change and row["type"] != ADOPTED_TYPE and keeps_copy(path, row["op"])


def is_wholly_erased(row: Row, tail: Tail, whole_erasures: frozenset[UUID]) -> bool:
    """Whether an erasure of a whole document took this event's words, and its copy with them."""
    tombstone = tail.tombstones.get(row["event_id"])
    # Only where a part is erased, the tombstone has been verified.
    is_erased = tombstone is not None and bool(erased_parts(row, EVENT_PARTS))
    return is_erased and tombstone is not None and tombstone["erasure_id"] in whole_erasures


def copy_warning(reader: EventReader, copy: GardenPath, found: str) -> str | None:
    """A warning if a history copy, whose bytes have this hash, is not what its event left.

    The copy can be read without the event log, or when that is damaged; then there is none.
    """
    with suppress(GardenError):
        event = reader.event(copy.user_id, UUID(copy.name[_ID]))
        if event is not None and event.statement.path != copy.document.text:
            event = None
        if not _holds_its_version(reader, copy, event, found):
            left = (
                f"This copy is not what event {event.event_id} left" if event else "No event left this copy"
            )
            return f"{left}; the versions of {copy.document} are in the event log."
    return None


def _holds_its_version(reader: EventReader, copy: GardenPath, event: Event | None, found: str) -> bool:
    if event is not None and isinstance(event.statement.edit, SnapshotPayload):
        if event.statement.edit.raw_hash:
            return found == event.statement.edit.raw_hash
    elif event is not None and event.document_version is not None:
        if event.before_raw_hash:
            return found == event.before_raw_hash
        before = reader.text_at(copy.user_id, copy.document.text, event.document_version - 1)
        return found == raw_hash(encoded(before))
    with reader.snapshot(copy.user_id) as snapshot:
        return found in _version_hashes(snapshot, copy.document)


def _problem(files: GardenFiles, copy: GardenPath, expected: str | None) -> str | None:
    try:
        found = raw_hash(files.content(copy))
    except FileMissingError:
        return _MISSING
    except FileError as error:
        return f"it can't be read: {error.message}"
    return None if found == expected else "it is not what that event left"


def _without_version(
    files: GardenFiles, snapshot: ReaderSnapshot, path: GardenPath, unhashed: dict[GardenPath, Fault]
) -> list[Fault]:
    """The faults of copies that hold no version of their document."""
    held: dict[str, list[GardenPath]] = {}
    for copy in unhashed:
        with suppress(FileError):
            held.setdefault(raw_hash(files.content(copy)), []).append(copy)
    # With events that do not fit each other, no copy holds a version beyond them.
    with suppress(GardenError):
        for version in _version_hashes(snapshot, path):
            for copy in held.pop(version, ()):
                del unhashed[copy]
    return list(unhashed.values())


def _version_hashes(snapshot: ReaderSnapshot, path: GardenPath) -> Iterator[str]:
    texts = VersionTexts(snapshot, path.text)
    for _ in texts.steps(1, VERSION_MAX):
        yield raw_hash(texts.data)
    yield raw_hash(texts.data)


def _copies_of(files: GardenFiles, path: GardenPath) -> Sequence[GardenPath]:
    # Without a list, each copy that an event left is looked for by its name.
    with suppress(FileError):
        return [each for each in files.list_folder(path.history) if not each.is_folder]
    return ()


def _fault(copy: GardenPath, event_id: UUID | None, message: str, version: int | None) -> Fault:
    real = (
        f"The events hold the real text: 'garden cat {copy.document} --version {version}'."
        if version
        else "Every version is in the events: 'garden cat --version'."
    )
    return Fault(Part.COPY, copy.text, message, f"Keep the file that is there as evidence. {real}", event_id)
