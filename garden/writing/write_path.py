"""The write path: the only way to change anything below `users/`.

1. Open: take the document's lock and read its head.
2. Plan: settle an interrupted change, adopt an outside edit, apply the edit in memory.
3. Intend: record the change durably, before it happens.
4. Write: put the new content, which was written beside the file before step 3, in the file's place; the
   version replaced goes to the history.
5. Seal: record durably that the change happened, and the answer; this releases the lock.

While step 3 waits for the database's disk, the new content is synced, and its passages are read; while step 5
waits, the folders are synced.

A refusal comes before step 3, and leaves nothing behind but an adopted outside edit.

Where this process knows the head, steps 1 and 3 are one: the edit is planned without the lock, and the step
that records it takes the lock, if it is free, and compares the head. Such a tried plan may only succeed. In
all other cases it leaves nothing, and the edit takes the steps above: every other answer comes from there.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from garden.events.database import DatabaseUnavailableError
from garden.events.idempotency import RequestIdentity
from garden.events.records import Caller, Event
from garden.events.store import EventStore
from garden.events.stream import EventName, LockedStream
from garden.files.errors import (
    ContentRemovedError,
    CopyLeftError,
    FileMissingError,
    StorageError,
    SyncFailedError,
)
from garden.files.failpoints import Failpoint, reach
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.files.prepared_file import PreparedFile
from garden.grammar.errors import GardenError
from garden.home.disk_space import DiskSpace
from garden.writing.adoption import DriftAdopter
from garden.writing.documents import Documents, GardenDocument
from garden.writing.erased_text import ERASED_WORDS, ErasedText, has_erased_words
from garden.writing.hand_moves import RECONCILER, HandMove, HandMoves, Search
from garden.writing.indexing import Indexing
from garden.writing.lost_copies import LostCopies
from garden.writing.lost_lines import way_back
from garden.writing.lost_writes import LostWrites
from garden.writing.outcomes import WriteOutcome, stored_response
from garden.writing.plan_refusals import DocumentDamagedError
from garden.writing.planner import Intent, Plan, Planner
from garden.writing.replays import Replays
from garden.writing.settlement import SagaSettler
from garden.writing.side_work import SideWork

BuildResult = Callable[[Plan], Any]
"""Makes a tool's result of the plan that is carried out."""

_ADOPTED = "The file had been edited outside the tools; that edit is now in the event log."
_WOULD_ADOPT = "The file was edited outside the tools; that edit would be recorded first."


class OutcomeUnknownError(GardenError):
    """The change was written, but the database did not confirm that it is sealed."""

    code: ClassVar[str] = "unavailable"


@dataclass(frozen=True)
class LockedDocument:
    """A document under its lock; `current` is None if there is no file.

    If the file is `missing` and an edit may make it again, `current` is the version in the event log. A file
    that the disk had set back is `rebuilt`. One with an outside edit that is not recorded has `drifted`.
    """

    current: GardenDocument | None
    adopted: Event | None
    rebuilt: bool = False
    missing: bool = False
    drifted: bool = False


@dataclass(frozen=True)
class SettledDocument:
    """The events that settled a document and adopted its drift, and the damage that the file has.

    `error` says why the file itself could not be read; an interrupted change was settled before. `rebuilt`
    says that the disk had lost the newest version or its copy, `moved` that the document was moved by hand.
    """

    settled: Event | None
    adopted: Event | None
    damage: Mapping[str, Any] | None
    rebuilt: bool = False
    moved: bool = False
    error: GardenError | None = None


@dataclass(frozen=True)
class Preview:
    """The plan for an intent that is not carried out, and its warnings."""

    plan: Plan
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class WritePath:
    """Carries out intents, each through the same steps."""

    store: EventStore
    files: GardenFiles
    documents: Documents
    planner: Planner
    settler: SagaSettler
    adopter: DriftAdopter
    lost_writes: LostWrites
    lost_copies: LostCopies
    replays: Replays
    erased_text: ErasedText
    disk_space: DiskSpace
    indexing: Indexing
    hand_moves: HandMoves

    def write(
        self, caller: Caller, intent: Intent, request: RequestIdentity | None, build_result: BuildResult
    ) -> WriteOutcome:
        """Carry an intent through all steps; a returned outcome survives any crash."""
        tried = self._try(caller, intent, request, build_result)
        if tried is not None:
            return tried
        path = intent.path
        with self.store.document(caller, path.text, request) as stream:
            reach(Failpoint.LOCKED)
            self.settler.settle(stream, path)
            replay = self.replays.of_edit(stream, path, records=True)
            if replay is not None:
                return replay
            move = None if intent.recovers else self.hand_moves.find(stream, path)
            if move is None:
                opened = self.open_and_adopt(stream, path, recreates=intent.recreates)
                intent = intent.at_version(stream.head.version, opened.current)
                return self._write(stream, intent, opened, build_result)
        self.adopt_move(move)
        return self.write(caller, intent, request, build_result)

    def _try(
        self, caller: Caller, intent: Intent, request: RequestIdentity | None, build_result: BuildResult
    ) -> WriteOutcome | None:
        """Carry an intent out by a plan made without the lock; None, and no trace, unless it succeeds."""
        if intent.under_lock or intent.recovers or intent.only_new:
            return None
        with self.store.attempt(caller, intent.path.text, request) as stream:
            try:
                current = self._read_unchanged(stream, intent.path) if stream else None
                if stream is None or current is None:
                    return None
                outcome = self._write(stream, intent, LockedDocument(current, None), build_result)
                return None if outcome.unchanged else outcome
            except (GardenError, UnicodeEncodeError) as error:
                has_begun = stream is not None and not stream.is_tried
                # A second try after a failed sync would falsely succeed.
                if has_begun or isinstance(error, SyncFailedError):
                    raise
                return None

    def _read_unchanged(self, stream: LockedStream, path: GardenPath) -> GardenDocument | None:
        """Read a document that is as its head says, with nothing to settle, adopt or make again."""
        if not self.files.is_confirmed(path):
            return None
        file = self.files.read(path)
        if file.hash != stream.head.file_hash or self.lost_copies.find(stream, path):
            return None
        return self.documents.parse_file(path, file)

    def _write(
        self, stream: LockedStream, intent: Intent, opened: LockedDocument, build_result: BuildResult
    ) -> WriteOutcome:
        """Plan an intent for an open document, and carry it out."""
        name = stream.next_name()
        plan = self.planner.plan(intent, opened.current, name, stream.damage, missing=opened.missing)
        reach(Failpoint.PLANNED)
        outcome = outcome_of(plan, build_result(plan), opened.adopted)
        if plan.unchanged:
            return replace(outcome, unchanged=True)
        self.erased_text.refuse_plan(stream, plan)
        self.disk_space.check()
        event = self._carry_out(stream, plan, name, stored_response(outcome))
        self.documents.remember(plan.after)
        return replace(outcome, event_id=event.event_id)

    def _carry_out(
        self, stream: LockedStream, plan: Plan, name: EventName, response: Mapping[str, Any]
    ) -> Event:
        """Record a planned change, write it and seal it; the files are synced while the database syncs."""
        path, replaces_file = plan.intent.path, plan.before is not None and not plan.missing
        copy = path.copy_of(name.at, name.event_id) if plan.keeps_copy else None
        is_tried, version = stream.is_tried, stream.head.version + 1
        before = plan.before.document if plan.before else None
        prepare = partial(
            self.files.prepare,
            path,
            plan.content,
            expected=plan.before.raw_hash if plan.before and replaces_file else None,
            keep_previous=copy if replaces_file else None,
        )
        with prepare(clears_strays=not is_tried) as prepared:
            reach(Failpoint.PREPARED)

            def sync_and_index() -> str | None:
                prepared.sync_content()
                return self.indexing.encoded_changes(path, before, plan.after.document, version, name.at)

            content, names = SideWork(sync_and_index), SideWork(prepared.sync_names)
            statement, change = plan.statement(response, prepared.file_time), plan.change()
            event = stream.begin(statement, change, name, meanwhile=content)
            with record_failure(stream, event):
                reach(Failpoint.BEGUN)
                content()
                passages = content.result()
                if is_tried:
                    _put_tried(stream, prepared, prepare)
                else:
                    prepared.put()
            # If this fails, the next process to open the document does it and seals the change.
            if plan.before and plan.missing and copy:
                self._write_missing_version(copy, plan.before)
            reach(Failpoint.WRITTEN)
            self.seal(stream, event, response, names, passages)
        return event

    def seal(
        self,
        stream: LockedStream,
        event: Event,
        response: Mapping[str, Any],
        names: SideWork[None],
        passages: str | None,
    ) -> None:
        """Seal a change that is written, while the names of its files go to the disk."""
        try:
            with report_unknown_outcome(event):
                answer = {**response, "eventId": str(event.event_id)}
                stream.finish(event, answer, meanwhile=names, passages=passages)
        finally:
            # The change may be committed even if the database did not say so.
            names()
        reach(Failpoint.SEALED)
        names.result()

    def preview(
        self, caller: Caller, intent: Intent, request: RequestIdentity | None, *, may_exceed: bool = False
    ) -> Preview | WriteOutcome:
        """Plan an intent, or find that it would be a replay; record nothing."""
        with self.store.document(caller, intent.path.text, request) as stream:
            self.settler.foresee(stream, intent.path)
            replay = self.replays.of_edit(stream, intent.path, records=False)
            if replay is not None:
                return replay
            opened = self.open_without_adopting(stream, intent.path, recreates=intent.recreates)
            plan = self.planner.plan(
                intent.at_version(stream.head.version, opened.current),
                opened.current,
                stream.next_name(),
                stream.damage,
                may_exceed=may_exceed,
                missing=opened.missing,
            )
            if not plan.unchanged:
                self.erased_text.refuse_plan(stream, plan)
                self.disk_space.check()
        return Preview(plan, (*((_WOULD_ADOPT,) if opened.drifted else ()), *plan.warnings))

    def settle_and_adopt(
        self, caller: Caller, path: GardenPath, search: Search | None = None
    ) -> SettledDocument:
        """Bring the event log up to the file, and leave its text; `search` looks for moves by hand."""
        with self.store.document(caller, path.text) as stream:
            reach(Failpoint.LOCKED)
            settled = self.settler.settle(stream, path)
            try:
                move = self.hand_moves.find(stream, path, search)
                if move is None:
                    opened = self.open_and_adopt(stream, path)
                    return SettledDocument(settled, opened.adopted, stream.damage, rebuilt=opened.rebuilt)
            except GardenError as error:
                return SettledDocument(settled, None, stream.damage, error=error)
        moved = self.adopt_move(move)
        return replace(self.settle_and_adopt(caller, path), settled=settled, adopted=moved, moved=True)

    def adopt_move(self, move: HandMove) -> Event | None:
        """Record a move by hand, under locks of its own, and give the document the id of its new place."""
        moved = self.hand_moves.adopt(self.store, move.old, move.new) if move.old else None
        intent = self.hand_moves.new_identity(move.new)
        if intent is not None:
            caller = Caller(move.new.user_id, RECONCILER, "maintainer")
            self.write(caller, intent, None, lambda plan: {"newHash": plan.after.document.hash})
        return moved

    def clear_strays(self, caller: Caller, path: GardenPath) -> int:
        """Remove the strays of a document, under its lock, so that no living writer loses one."""
        with self.store.document(caller, path.text):
            return self.files.strays.remove(path)

    def open_and_adopt(
        self, stream: LockedStream, path: GardenPath, *, recreates: bool = False
    ) -> LockedDocument:
        """Read a document under its lock, and record its outside edit in the event log.

        A missing file is refused, except for an edit that `recreates` it.
        """
        try:
            file = self.files.read(path)
        except FileMissingError:
            return self._open_missing(stream, path, recreates=recreates, records=True)
        rebuilt = self.lost_writes.rebuild(stream, path, file)
        remade = self.lost_copies.rebuild(stream, path)
        file = rebuilt or file
        adopted = self.adopter.adopt(stream, path, file)
        document = self.documents.parse_file(path, file)
        return LockedDocument(document, adopted, rebuilt=remade or rebuilt is not None)

    def open_without_adopting(
        self, stream: LockedStream, path: GardenPath, *, recreates: bool = False
    ) -> LockedDocument:
        """Read a document under its lock, and record nothing."""
        try:
            file = self.files.read(path)
        except FileMissingError:
            return self._open_missing(stream, path, recreates=recreates, records=False)
        newest = self.lost_writes.newest_text(stream, path, file)
        if newest is not None:
            return LockedDocument(self.documents.parse_text(path, newest), None, rebuilt=True)
        stream.damage = self.adopter.damage(stream, path, file)
        drifted = file.hash != stream.head.file_hash
        if drifted:
            self.erased_text.refuse_old_copy(stream, file)
        return LockedDocument(self.documents.parse_file(path, file), None, drifted=drifted)

    def _open_missing(
        self, stream: LockedStream, path: GardenPath, *, recreates: bool, records: bool
    ) -> LockedDocument:
        if not stream.head.has_file:
            return LockedDocument(None, None)
        if recreates:
            text = self.adopter.known_text(stream, path) or ""
            return LockedDocument(self.documents.parse_text(path, text), None, missing=True)
        gone = self.adopter.find_departure(stream, path)
        if gone is not None:
            return LockedDocument(None, self.adopter.adopt_departure(stream, path, gone) if records else None)
        raise DocumentDamagedError(
            f"The file of this document is missing; the event log holds version {stream.head.version} of it.",
            hint="A maintainer can make it again with md.restore ('garden restore'); its owner can put back "
            "a copy from the history or a backup.",
            details={"version": stream.head.version, "contentHash": stream.head.content_hash},
        )

    def _write_missing_version(self, copy: GardenPath, version: GardenDocument) -> None:
        """Write the version of a missing file into the history, where there is no file to link."""
        try:
            self.files.history.write(copy, version.text.encode())
        except StorageError:
            raise SyncFailedError(replaced=True) from None


def _put_tried(stream: LockedStream, prepared: PreparedFile, prepare: Callable[..., PreparedFile]) -> None:
    """Put content in its place that was prepared without the lock, and remove strays, which needs the lock.

    Another process may have taken the content for a stray. Then it is written once more, and the lock was
    never lost if it is still there after that: a process that settles the edit later removes it again.
    """
    try:
        prepared.put()
    except ContentRemovedError:
        with prepare(clears_strays=False) as anew:
            anew.sync_content()
            try:
                stream.confirm_lock()
            except DatabaseUnavailableError:
                raise ContentRemovedError from None
            anew.put()
    # Those of other tried plans as well: the head has moved on from them.
    with suppress(GardenError):
        prepared.clear_strays()


@contextmanager
def record_failure(stream: LockedStream, *events: Event) -> Iterator[None]:
    """Record that a change did not happen if the files refuse it.

    Two failures leave the change open. One that is in place, but that the disk did not confirm, closes the
    document until the next process to open it has brought the change to the disk. One whose history copy
    could not be removed stays open because only open changes are cleaned up.
    """
    try:
        yield
    except GardenError as error:
        if isinstance(error, CopyLeftError) or (isinstance(error, SyncFailedError) and error.replaced):
            raise
        # If this can't be recorded either, the next process to open the document settles the change.
        with suppress(GardenError):
            for event in events:
                stream.fail(event, {"code": error.code, "message": error.message}, keep=True)
        raise


@contextmanager
def report_unknown_outcome(event: Event) -> Iterator[None]:
    """Tell the caller that the change is safe if the database goes away before the seal."""
    try:
        yield
    except DatabaseUnavailableError:
        raise OutcomeUnknownError(
            "The change was recorded and written, but the database went away before it was sealed.",
            hint="It is sealed when the document is next opened. Send the same request again to get its "
            "answer.",
            details={"eventId": str(event.event_id)},
        ) from None


def outcome_of(plan: Plan, result: Any, adopted: Event | None) -> WriteOutcome:
    """The outcome of a plan that is carried out, and of the outside edit that was recorded before it."""
    warnings = list(plan.warnings)
    also: dict[str, Any] = {"documentHash": plan.after.document.hash}
    if adopted is not None:
        warnings.insert(0, f"{_ADOPTED} {way_back(adopted)}".rstrip())
        if has_erased_words(adopted):
            warnings.insert(1, ERASED_WORDS)
        also["adoptedEventId"] = str(adopted.event_id)
    return WriteOutcome(result, warnings=tuple(warnings), also=also)
