"""The write path: the one way in which anything below `users/` is changed.

1. Open: take the document's lock, learn what the account believes of it.
2. Plan: settle what a crash left, adopt what an edit from outside changed, apply the edit in memory.
3. Intend: record durably what is about to happen.
4. Write: put the new content, which was brought to the disk beside the file before the third step, in the
   file's place; the version replaced goes to the history.
5. Seal: record that it happened, and the answer; the lock goes back with it.

A refusal happens before the third step, and leaves nothing behind but an adopted edit from outside.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from uuid import UUID

from garden.events.database import DatabaseUnavailableError
from garden.events.idempotency import EarlierRequest, InProgressError, RequestIdentity
from garden.events.records import Caller, Event
from garden.events.store import EventStore
from garden.events.stream import EventName, LockedStream
from garden.files.errors import CopyLeftError, FileMissingError, StorageError, SyncFailedError
from garden.files.failpoints import Failpoint, reach
from garden.files.garden_files import FileText, GardenFiles
from garden.files.paths import GardenPath
from garden.files.prepared_file import PreparedFile
from garden.grammar.errors import GardenError
from garden.home.disk_space import DiskSpace
from garden.writing.adoption import DriftAdopter
from garden.writing.documents import Documents, GardenDocument
from garden.writing.planner import DocumentDamagedError, Intent, Plan, Planner
from garden.writing.setbacks import LostWrites
from garden.writing.settlement import EMPTY_HASH, SagaSettler

Answer = Callable[[Plan], Any]

_WOULD_REPLAY = (
    "This request was carried out before: sent again it changes nothing, and is answered as it was then. "
    "A different idempotencyKey has it carried out."
)
_CHANGED_SINCE = (
    "The document has changed since this request was carried out, and it was not carried out again."
)
_MISSING_SINCE = (
    "The document's file has gone since this request was carried out, and it was not carried out again."
)


class OutcomeUnknownError(GardenError):
    """The change was written, and whether the account knows could not be learnt."""

    code: ClassVar[str] = "unavailable"


@dataclass(frozen=True)
class WriteOutcome:
    """What became of an intent: the answer for its caller, and what else there is to tell."""

    result: Any
    event_id: UUID | None = None
    replayed: bool = False
    unchanged: bool = False
    warnings: tuple[str, ...] = ()
    hint: str | None = None
    also: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LockedDocument:
    """A document under its lock; `current` is None where there is no file.

    Where the file is `missing`, and that is to be mended, it is what the account says of it.
    """

    current: GardenDocument | None
    adopted: Event | None
    remade: bool = False
    missing: bool = False


@dataclass(frozen=True)
class SettledDocument:
    """What was done to bring the account and a file together, and what tools hold on to and miss in it.

    `error` says why the file itself could not be read; a change that had been left open was ended before.
    `remade` says that the file had been set back by the disk.
    """

    settled: Event | None
    adopted: Event | None
    damage: Mapping[str, Any] | None
    remade: bool = False
    error: GardenError | None = None


@dataclass(frozen=True)
class Preview:
    """What an intent would do, and what is to be said about it."""

    plan: Plan
    warnings: tuple[str, ...]


class WritePath:
    """Carries intents out, each through the same steps."""

    def __init__(
        self,
        store: EventStore,
        files: GardenFiles,
        documents: Documents,
        planner: Planner,
        settlement: SagaSettler,
        adoption: DriftAdopter,
        set_backs: LostWrites,
        disk_space: DiskSpace,
    ) -> None:
        self._store = store
        self._files = files
        self._documents = documents
        self._planner = planner
        self._settlement = settlement
        self._adoption = adoption
        self._set_backs = set_backs
        self._disk_space = disk_space

    def write(
        self, caller: Caller, intent: Intent, request: RequestIdentity | None, answer: Answer
    ) -> WriteOutcome:
        """Carry an intent through all steps; success means that it survives whatever happens next."""
        with self._store.document(caller, intent.path.text, request) as stream:
            reach(Failpoint.LOCKED)
            earlier = self.settle(stream, intent.path)
            if earlier is not None:
                return replay_outcome(earlier, self._settlement.raw_hash_of(intent.path))
            opened = self.open_and_adopt(stream, intent.path, recreates=intent.recreates)
            name = stream.next_name()
            plan = self._planned(stream, intent, opened, name)
            reach(Failpoint.PLANNED)
            outcome = _outcome(plan, answer(plan), opened.adopted)
            if plan.unchanged:
                return replace(outcome, unchanged=True)
            self._disk_space.check()
            response = stored_response(outcome, plan.after.raw_hash)
            statement = plan.statement
            statement = replace(statement, edit={**(statement.edit or {}), "answer": response})
            with self._prepared(plan, name) as replacement:
                reach(Failpoint.PREPARED)
                event = stream.begin(statement, plan.change(stream.head), name)
                with record_failure(stream, event):
                    reach(Failpoint.BEGUN)
                    replacement.put()
                # Where this fails, whoever opens the document next does it and ends the change.
                self._keep_missing(plan, name)
            reach(Failpoint.WRITTEN)
            with report_unknown_outcome(event):
                stream.finish(event, {**response, "eventId": str(event.event_id)})
            reach(Failpoint.SEALED)
        self._documents.remember(plan.after)
        return replace(outcome, event_id=event.event_id)

    def preview(
        self, caller: Caller, intent: Intent, request: RequestIdentity, *, may_exceed: bool = False
    ) -> Preview:
        """Take the first half of the way: plan, and record nothing."""
        with self._store.document(caller, intent.path.text, request) as stream:
            opened = self.open_without_adopting(stream, intent.path, recreates=intent.recreates)
            plan = self._planned(stream, intent, opened, stream.next_name(), may_exceed=may_exceed)
            known = stream.earlier is not None and stream.earlier.response is not None
        return Preview(plan, (*((_WOULD_REPLAY,) if known else ()), *plan.warnings))

    def _planned(
        self,
        stream: LockedStream,
        intent: Intent,
        opened: LockedDocument,
        name: EventName,
        *,
        may_exceed: bool = False,
    ) -> Plan:
        if intent.under_lock is not None:
            intent = replace(intent, edit=intent.under_lock(stream.head.version))
        return self._planner.plan(
            intent, opened.current, name, stream.damage, may_exceed=may_exceed, missing=opened.missing
        )

    def settle_and_adopt(self, caller: Caller, path: GardenPath) -> SettledDocument:
        """Bring the account up to what stands in the file, and change nothing of it."""
        with self._store.document(caller, path.text) as stream:
            reach(Failpoint.LOCKED)
            settled = self._settlement.settle(stream, path)
            try:
                opened = self.open_and_adopt(stream, path)
            except GardenError as error:
                return SettledDocument(settled, None, stream.damage, error=error)
            return SettledDocument(settled, opened.adopted, stream.damage, remade=opened.remade)

    def clear_strays(self, caller: Caller, path: GardenPath) -> int:
        """Remove what killed writers of a document left beside it; whoever writes it now has the lock."""
        with self._store.document(caller, path.text):
            return self._files.strays.remove(path)

    def settle(self, stream: LockedStream, path: GardenPath) -> EarlierRequest | None:
        """End what a crash left open; gives the earlier request of the same key that has an answer."""
        self._settlement.settle(stream, path)
        if stream.earlier is not None and stream.earlier.response is None:
            raise InProgressError(
                "The same request is being carried out.", hint="Send it again in a moment to have its answer."
            )
        return stream.earlier

    def open_and_adopt(
        self, stream: LockedStream, path: GardenPath, *, recreates: bool = False
    ) -> LockedDocument:
        """Read a document under its lock, and take into the account what was edited outside.

        A missing file is a refusal, but for an edit that `recreates` it.
        """
        file = self._read(path)
        if file is None:
            return self._without_file(stream, path, recreates=recreates, records=True)
        remade = self._set_backs.remade(stream, path, file)
        file = remade or file
        adopted = self._adoption.adopt(stream, path, file)
        return LockedDocument(self._documents.parse_file(path, file), adopted, remade is not None)

    def open_without_adopting(
        self, stream: LockedStream, path: GardenPath, *, recreates: bool = False
    ) -> LockedDocument:
        """Read a document under its lock, and record nothing."""
        file = self._read(path)
        if file is None:
            return self._without_file(stream, path, recreates=recreates, records=False)
        stream.damage = self._adoption.damage(stream, path, file)
        return LockedDocument(self._documents.parse_file(path, file), None)

    def _read(self, path: GardenPath) -> FileText | None:
        try:
            return self._files.read(path)
        except FileMissingError:
            return None

    def _without_file(
        self, stream: LockedStream, path: GardenPath, *, recreates: bool, records: bool
    ) -> LockedDocument:
        if stream.head.raw_hash in {None, EMPTY_HASH}:
            return LockedDocument(None, None)
        if recreates:
            text = self._adoption.known_text(stream, path) or ""
            return LockedDocument(self._documents.parse_text(path, text), None, missing=True)
        gone = self._adoption.departure(stream, path)
        if gone is not None:
            return LockedDocument(
                None, self._adoption.adopt_departure(stream, path, gone) if records else None
            )
        raise DocumentDamagedError(
            f"The file of this document is missing, and the account holds version {stream.head.version} "
            "of it.",
            hint="A maintainer can have md.restore ('garden restore') make it anew from the account; its "
            "owner can put back a copy from its history or a backup.",
            details={"version": stream.head.version, "contentHash": stream.head.content_hash},
        )

    def _prepared(self, plan: Plan, name: EventName) -> AbstractContextManager[PreparedFile]:
        path = plan.intent.path
        return self._files.prepare(
            path,
            plan.after.text.encode(),
            expected=plan.before.raw_hash if plan.before and not plan.missing else None,
            keep_previous=path.copy_of(name.at, name.event_id)
            if plan.keeps_copy and not plan.missing
            else None,
        )

    def _keep_missing(self, plan: Plan, name: EventName) -> None:
        """Write the version that a missing file had into the history, where there is no file to link."""
        if plan.missing and plan.before is not None and plan.keeps_copy:
            copy = plan.intent.path.copy_of(name.at, name.event_id)
            try:
                self._files.history.write(copy, plan.before.text.encode())
            except StorageError:
                raise SyncFailedError(replaced=True) from None


@contextmanager
def record_failure(stream: LockedStream, *events: Event) -> Iterator[None]:
    """Say that a change did not happen where the files refuse it.

    One that stands in its place, and that the disk did not confirm, has not come to its end: the document is
    closed to others until whoever opens it next has brought the change to the disk. Nor has one whose copy
    could not be taken out of the history again, since only an open change is cleared up after.
    """
    try:
        yield
    except GardenError as error:
        if isinstance(error, CopyLeftError) or (isinstance(error, SyncFailedError) and error.replaced):
            raise
        # Where even that can't be recorded, whoever opens the document next settles it.
        with suppress(GardenError):
            for event in events:
                stream.fail(event, {"code": error.code, "message": error.message}, keep=True)
        raise


@contextmanager
def report_unknown_outcome(event: Event) -> Iterator[None]:
    """Tell a caller who can't be told more that the change is safe, and how to learn the rest."""
    try:
        yield
    except DatabaseUnavailableError:
        raise OutcomeUnknownError(
            "The change was recorded and written, but the database went away before it was sealed.",
            hint="It will be sealed when the document is next opened. Send the same request again to "
            "have its answer.",
            details={"eventId": str(event.event_id)},
        ) from None


def stored_response(outcome: WriteOutcome, raw_hash: str) -> dict[str, Any]:
    """Write an outcome as it is remembered for a request that comes again."""
    return {"result": outcome.result, "warnings": list(outcome.warnings), "rawHash": raw_hash}


def replay_outcome(earlier: EarlierRequest, raw_hash: str | None) -> WriteOutcome:
    """Answer a request that was carried out before, and say so; `raw_hash` is what the file has now."""
    response = earlier.response or {}
    warnings = list(response.get("warnings", []))
    if raw_hash is None and response.get("rawHash") != EMPTY_HASH:
        warnings.insert(0, _MISSING_SINCE)
    elif raw_hash is not None and raw_hash != response.get("rawHash"):
        warnings.insert(0, _CHANGED_SINCE)
    return WriteOutcome(
        response.get("result"),
        earlier.event_id,
        replayed=True,
        warnings=tuple(warnings),
        hint="This answer is from before; a different idempotencyKey has the same words recorded again.",
    )


def _outcome(plan: Plan, result: Any, adopted: Event | None) -> WriteOutcome:
    warnings = list(plan.warnings)
    also: dict[str, Any] = {"documentHash": plan.after.document.hash}
    if adopted is not None:
        warnings.insert(
            0, "The file had been edited outside the tools; that edit is now part of the account."
        )
        also["adoptedEventId"] = str(adopted.event_id)
    return WriteOutcome(result, warnings=tuple(warnings), also=also)
