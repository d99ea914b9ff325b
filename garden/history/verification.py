"""Verifying a home: every event, head, stored answer and token, every file, and every history copy."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import UUID

from garden.events.erasures import Erasure, ErasureKind
from garden.events.pool import NotRecordableError
from garden.events.records import JOURNAL
from garden.events.row_checks import Tail
from garden.events.rows import Row
from garden.events.verifier import UserRows, unrecordable_fault
from garden.files.errors import FileError, FileMissingError
from garden.files.failpoints import Failpoint, reach
from garden.files.paths import GardenPath, PathNotAllowedError
from garden.grammar.canonical import raw_hash
from garden.history.copy_checks import CopyChecks, SnapshotCopy, is_wholly_erased
from garden.history.faults import Fault, Part, fault_of_chain
from garden.history.verify_progress import Resumption
from garden.writing.services import Services

_TRIES = 3
_ADOPT_HINT = "Run 'garden reconcile' to record it, then verify again."
_UNFINISHED = Fault(
    Part.UNFINISHED,
    "erasures",
    "An erasure has begun and is not finished; history copies were not compared",
    "Run 'garden reconcile', which finishes it, then verify again.",
)


@dataclass(frozen=True, slots=True)
class UserReport:
    """The result of verifying one user; `resumed` counts documents that an interrupted run has verified."""

    user: str
    events: int
    documents: int
    resumed: int
    faults: tuple[Fault, ...]
    erasures: tuple[Erasure, ...]

    @property
    def holds(self) -> bool:
        """Whether everything holds."""
        return not self.faults


def verify_user(
    services: Services,
    user_id: str,
    resumption: Resumption | None = None,
    *,
    since: int | None = None,
    on_document: Callable[[str, int], None] = lambda _path, _events: None,
) -> UserReport:
    """Verify one user; `on_document` is called with each document and the events verified up to then.

    With `since`, only the events and copies after the first so many entries of the log, and every file.
    """
    try:
        with services.verifier.open(user_id) as rows:
            resumption = resumption or Resumption(None, None)
            covered = {} if since is None else services.log_leaves.covered(user_id, since)
            return _UserCheck(services, user_id, resumption, covered, on_document).report(rows)
    except (NotRecordableError, PathNotAllowedError):
        # A value or a path that the service never records.
        fault = fault_of_chain(unrecordable_fault(user_id))
        return UserReport(user_id, 0, 0, 0, (fault,), ())


@dataclass
class _UserCheck:
    services: Services
    user_id: str
    resumption: Resumption
    covered: Mapping[str, int]
    on_document: Callable[[str, int], None]
    erasures: tuple[Erasure, ...] = ()
    events: int = 0
    resumed: int = 0
    snapshots: dict[str, list[SnapshotCopy]] = field(default_factory=dict)

    def report(self, rows: UserRows) -> UserReport:
        self.erasures, streams = rows.erasures(), rows.streams()
        faults: list[Fault] = []
        self.resumption.begin(rows.snapshot, self.services.files)
        for stream in streams:
            faults += self._check_stream(rows, stream)
            self.on_document(stream, self.events)
        documents = [stream for stream in streams if stream != JOURNAL]
        faults += self._check_unrecorded(rows, frozenset(documents))
        faults += map(fault_of_chain, rows.cross_faults())
        faults += [_UNFINISHED] if self._is_erasing else []
        counts = self.events, len(documents), self.resumed
        return UserReport(self.user_id, *counts, tuple(faults), self.erasures)

    @property
    def _is_erasing(self) -> bool:
        return any(each.finished_at is None for each in self.erasures)

    @property
    def _whole_erasures(self) -> frozenset[UUID]:
        """The finished erasures that took whole documents; only those are sealed."""
        return frozenset(
            each.erasure_id
            for each in self.erasures
            if each.finished_at is not None and each.kind is not ErasureKind.PASSAGE
        )

    def _check_stream(self, rows: UserRows, stream: str) -> list[Fault]:
        if stream == JOURNAL:
            start = self._start(rows, JOURNAL)
            after = start.sequence
            tail, fault = rows.check_stream(JOURNAL, start, self._see_note)
            self.events += tail.sequence - after
            return [fault_of_chain(fault)] if fault else []
        events = self.resumption.events_verified(stream)
        if events is not None:
            self.events, self.resumed = self.events + events, self.resumed + 1
            return []
        events, faults = self._check_document(rows, GardenPath(stream))
        self.events += events
        if not faults and not self._is_erasing:
            self.resumption.add(stream)
        reach(Failpoint.DOCUMENT_VERIFIED)
        return faults

    def _check_document(
        self, rows: UserRows, path: GardenPath, tries: int = _TRIES
    ) -> tuple[int, list[Fault]]:
        """Check a document's events, then its file and copies; once more if it was written meanwhile."""
        tail = self._start(rows, path.text)
        copies = CopyChecks(
            self.services.files, path, self.snapshots.get(path.text, ()), self._whole_erasures
        )
        after = tail.sequence
        tail, fault = rows.check_stream(path.text, tail, copies.see)
        if fault is not None:
            return tail.sequence - after, [fault_of_chain(fault)]
        copies.finish(rows.snapshot, self.services.reader, after)
        found = [*([] if self._is_erasing else copies.faults), *self._check_file(path, tail)]
        if found and tries:
            with self.services.verifier.open(self.user_id) as later:
                if self._has_moved_on(later, path, tail):
                    return self._check_document(later, path, tries - 1)
        return tail.sequence - after, found

    def _start(self, rows: UserRows, stream: str) -> Tail:
        covered = self.covered.get(stream)
        return rows.tail_at(stream, covered) if covered else Tail(rows.tombstones)

    def _check_file(self, path: GardenPath, tail: Tail) -> Iterator[Fault]:
        """Compare a document's file with its newest version, or with the one that an open change makes."""
        wanted = {tail.raw_hash if tail.head_row and tail.head_row["leaves_file"] else None}
        if tail.open_event_id is not None and tail.last is not None:
            wanted.add(tail.last["intended_raw_hash"] if tail.last["leaves_file"] else None)
        found = None
        try:
            found = raw_hash(self.services.files.content(path))
        except FileMissingError:
            pass
        except FileError as error:
            yield Fault(Part.FILE, path.text, f"its file can't be read: {error.message}", error.hint)
            return
        if found in wanted:
            return
        if found is None:
            restore = f"'garden restore {path} --version {tail.version}' brings it back."
            yield Fault(Part.FILE, path.text, "its file is missing", restore, tail.head_event_id)
        else:
            message = f"its file is not version {tail.version}, as the events have it: it was edited outside"
            yield Fault(Part.OUTSIDE, path.text, message, _ADOPT_HINT, tail.head_event_id)

    def _has_moved_on(self, later: UserRows, path: GardenPath, tail: Tail) -> bool:
        """Whether a document was changed, or words erased, since; then take up what is known later."""
        head, erasures = later.heads.get(path.text), later.erasures()
        now = (head["tail_sequence"], head["open_event_id"]) if head else (0, None)
        if now == (tail.sequence, tail.open_event_id) and erasures == self.erasures:
            return False
        self.erasures, self.snapshots = erasures, {}
        later.follow(JOURNAL, self._start(later, JOURNAL), self._see_note)
        return True

    def _check_unrecorded(self, rows: UserRows, recorded: frozenset[str]) -> Iterator[Fault]:
        """Find files and history copies of documents that have no event."""
        files, reader = self.services.files, self.services.reader
        unlisted: dict[GardenPath, FileError] = {}
        for path in files.documents(GardenPath(f"users/{self.user_id}"), unlisted.__setitem__):
            if path.text not in recorded and reader.head(self.user_id, path.text) is None:
                message = "it was begun outside the tools, and no event has it"
                yield Fault(Part.OUTSIDE, path.text, message, _ADOPT_HINT)
        for folder, error in unlisted.items():
            yield Fault(Part.FILE, folder.text, f"this folder can't be listed: {error.message}", error.hint)
        for path in self._with_history(GardenPath(f"history/{self.user_id}")):
            if path.text not in recorded:
                copies = CopyChecks(files, path, (), self._whole_erasures)
                copies.finish(rows.snapshot, reader, 0)
                yield from copies.faults

    def _with_history(self, folder: GardenPath) -> Iterator[GardenPath]:
        with suppress(FileError):
            for each in self.services.files.list_folder(folder):
                if each.is_folder and each.document_name:
                    yield each.document
                elif each.is_folder:
                    yield from self._with_history(each)

    def _see_note(self, row: Row, tail: Tail) -> None:
        """Collect the copies that snapshots left."""
        edit = row["edit"] or {}
        if edit.get("kind") != "snapshot":
            return
        copy = GardenPath(edit["historyPath"])
        may_be_gone = is_wholly_erased(row, tail, self._whole_erasures)
        snapshot = SnapshotCopy(copy, row["event_id"], edit["rawHash"] or None, may_be_gone)
        self.snapshots.setdefault(copy.document.text, []).append(snapshot)
