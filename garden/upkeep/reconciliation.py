"""Reconciling: settle interrupted changes, adopt outside edits, clear stray files, rebuild heads.

Every function may run at any moment and in any number of processes: it takes a document's lock before it
works on it, and stops if another process was faster.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

from garden.events.attempts import PAUSE_SECONDS, Attempt
from garden.events.database import DatabaseUnavailableError
from garden.events.idempotency import InProgressError
from garden.events.pool import PoolBusyError
from garden.events.records import Caller, Event
from garden.events.saga import Status
from garden.files.failpoints import Failpoint, reach
from garden.files.paths import GardenPath, Place
from garden.grammar.errors import GardenError
from garden.upkeep.seen import Seen
from garden.upkeep.status import DocumentStatus, State, quarantine_message, status_of_user
from garden.writing.erased_text import ERASED_WORDS, has_erased_words
from garden.writing.hand_moves import Search
from garden.writing.lost_lines import way_back
from garden.writing.services import Services
from garden.writing.write_path import SettledDocument

ReconcileOutcome = Literal[
    "would be opened",
    "would be made again", "finished", "undone", "adopted", "made again", "cleared", "unchanged", "busy",
    "quarantined", "needs a person", "refused",
]  # fmt: skip

_ACTOR = "reconciler"
_BATCH_SAGAS = 50
# A person who runs `garden reconcile` twice wants a second attempt at once.
_PAUSE_BY_HAND_SECONDS = 0
_BATCH_REQUESTS = 1000
_NEEDS_A_PERSON = {State.DAMAGED, State.MISSING, State.UNREADABLE, State.QUARANTINED}


@dataclass(frozen=True)
class Reconciliation:
    """The outcome for one document; `before` is the state it was in, at `version`."""

    user_id: str
    path: str
    before: State
    outcome: ReconcileOutcome
    event_ids: tuple[UUID, ...] = ()
    message: str = ""
    version: int = 0

    @property
    def is_well(self) -> bool:
        """Whether no person has to act; a busy document is well."""
        return self.outcome not in {"needs a person", "refused", "quarantined"}


def reconcile(services: Services, users: Sequence[str], *, dry_run: bool = False) -> Iterator[Reconciliation]:
    """Sweep, adopt and clear strays for some users, however young a saga is."""
    for user_id in users:
        if dry_run:
            yield from map(_plan, _statuses_not_in_step(services, user_id))
        else:
            swept = sweep(services, timedelta(0), user_id, pause_seconds=_PAUSE_BY_HAND_SECONDS)
            # `adopt` reports quarantined documents, together with all others not in step.
            yield from (each for each in swept if each.outcome != "quarantined")
            yield from finish_erasures(services, user_id)
            yield from adopt(services, user_id, linted=True)
            yield from clear_strays(services, user_id)


def finish_erasures(services: Services, user_id: str | None = None) -> Iterator[Reconciliation]:
    """Finish the erasures that a crash interrupted."""
    path = services.recovery_path
    eraser = replace(services.eraser, store=path.store, write_path=path)
    for erasure in eraser.erasures.pending(user_id):
        done = Reconciliation(
            erasure.user_id, erasure.path or f"users/{erasure.user_id}", State.OPEN, "finished"
        )
        try:
            eraser.carry_out(erasure)
        except (InProgressError, PoolBusyError) as error:
            done = replace(done, outcome="busy", message=error.message)
        except DatabaseUnavailableError:
            raise
        except GardenError as error:
            done = replace(done, outcome="refused", message=f"An erasure can't be finished. {error.message}")
        yield done


def sweep(
    services: Services,
    older_than: timedelta,
    user_id: str | None = None,
    *,
    pause_seconds: float = PAUSE_SECONDS,
) -> Iterator[Reconciliation]:
    """Settle stalled sagas, batch by batch; one sweep tries no saga twice.

    Each attempt is counted before it is made, so that a saga that kills the sweep is not tried for ever. An
    attempt that failed because the disk or the database is away does not count.
    """
    tried: list[UUID] = []
    while due := services.recoveries.claim(
        older_than,
        limit=_BATCH_SAGAS,
        user_id=user_id,
        attempts_max=services.upkeep.attempts,
        pause_seconds=pause_seconds,
        excluded=tried,
    ):
        reach(Failpoint.CLAIMED)
        batch = _Batch(services, due)
        yield from batch.settle()
        tried += batch.still_open


def adopt(
    services: Services, user_id: str, *, linted: bool = False, seen: Seen | None = None
) -> Iterator[Reconciliation]:
    """Record outside edits, remake files that the disk set back, and complete the feed after a crash.

    With `linted`, documents that no tool can edit are reported even if nothing changed. A caller that repeats
    this passes what it has `seen`, so that unchanged files are not read again.
    """
    services.store.number_rest(user_id)
    search = services.write_path.hand_moves.search_once(user_id)
    for status in _statuses_not_in_step(services, user_id, linted=linted, seen=seen, search=search):
        if status.is_folder:
            yield _of_status(status, "needs a person", status.message)
        elif status.open_event_id is None:
            yield _settle_and_adopt(services, status, search)
        elif status.state is State.QUARANTINED:
            yield _of_status(status, "quarantined", status.message)


def clear_strays(services: Services, user_id: str) -> Iterator[Reconciliation]:
    """Remove the temporary files of killed writers, and report those that can't be removed."""
    unlisted: dict[GardenPath, GardenError] = {}
    for path in services.files.strays.documents(user_id, unlisted.__setitem__):
        try:
            if services.recovery_path.clear_strays(_reconciler(user_id), path):
                yield Reconciliation(user_id, path.text, State.IN_STEP, "cleared")
        except (InProgressError, PoolBusyError):
            # The file belongs to a live writer.
            continue
        except DatabaseUnavailableError:
            raise
        except GardenError as error:
            message = f"A file named like one of its temporary files can't be removed. {error.message}"
            yield _needs_a_person(path, State.IN_STEP, message)
    for folder, refusal in unlisted.items():
        # `adopt` reports the other folders, because it lists the garden's documents.
        if folder.place is Place.HISTORY_FOLDER:
            yield _needs_a_person(folder, State.UNREADABLE, f"This folder can't be listed. {refusal.message}")


def rebuild_heads(services: Services, user_id: str, *, dry_run: bool = False) -> Iterator[Reconciliation]:
    """Rebuild heads that do not fit their events; only a person who knows the cause should ask for it.

    Events that do not verify are reported, and no head is made of them.
    """
    for fault in services.heads.faults(user_id):
        done = Reconciliation(
            user_id, fault.stream, State.UNREADABLE, "would be made again", message=fault.message
        )
        if not fault.of_head:
            message = (
                f"event {fault.event_id} ({fault.sequence}): {fault.message}. "
                "Keep the database as it is, and compare it with a backup."
            )
            done = replace(done, outcome="needs a person", message=message)
        elif not dry_run:
            try:
                services.heads.rebuild(_reconciler(user_id), fault)
                done = replace(done, outcome="made again")
            except GardenError as error:
                done = replace(done, outcome="refused", message=error.message)
        yield done


def forget_expired(services: Services) -> Iterator[int]:
    """Delete expired requests, calls and sign-ins, the words of expired approvals, old counts and notes.

    It yields the number of requests or calls per batch.
    """
    services.recoveries.forget_outdated()
    services.maintenance.forget_old_calls()
    services.maintenance.forget_approvals()
    services.maintenance.forget_sign_ins()
    for user_id in services.maintenance.users():
        services.passages.forget_old_given(user_id)
    while count := services.maintenance.forget_expired_requests(limit=_BATCH_REQUESTS):
        yield count
    yield from services.calls.forget_expired()


class _Batch:
    """Some stalled sagas that were claimed, sorted by how their attempts ended."""

    def __init__(self, services: Services, due: Sequence[Attempt]) -> None:
        self._services = services
        self._due = due
        self._ended: list[Attempt] = []
        self._busy: list[Attempt] = []
        self._failed: list[tuple[Attempt, dict[str, Any]]] = []
        self._put_off: list[tuple[Attempt, dict[str, Any]]] = []

    @property
    def still_open(self) -> list[UUID]:
        """The sagas that could not be settled."""
        refused = (attempt for attempt, _ in (*self._failed, *self._put_off))
        return [attempt.event_id for attempt in (*self._busy, *refused)]

    def settle(self) -> list[Reconciliation]:
        done = []
        for place, attempt in enumerate(self._due):
            try:
                done.append(self._try(attempt))
            except DatabaseUnavailableError as error:
                self._put_off.append((attempt, _error_fields(error)))
                # The rest of the batch was not tried.
                self._busy += self._due[place + 1 :]
                # If the database refuses this as well, the attempts stay counted.
                with suppress(GardenError):
                    self._record()
                raise
        self._record()
        return done

    def _record(self) -> None:
        recoveries = self._services.recoveries
        recoveries.forget(self._ended)
        recoveries.uncount(self._busy)
        recoveries.postpone(self._put_off)
        recoveries.note_errors(self._failed)

    def _try(self, attempt: Attempt) -> Reconciliation:
        if attempt.quarantined:
            message = quarantine_message(attempt.attempts - 1, attempt.error)
            return _of_attempt(attempt, "quarantined", message=message)
        caller = _reconciler(attempt.user_id)
        try:
            known = self._services.recovery_path.settle_and_adopt(caller, GardenPath(attempt.path))
        except (InProgressError, PoolBusyError) as error:
            self._busy.append(attempt)
            return _of_attempt(attempt, "busy", message=error.message)
        except DatabaseUnavailableError:
            # The others would fail as well.
            raise
        except GardenError as error:
            refused = self._put_off if error.code == "unavailable" else self._failed
            refused.append((attempt, _error_fields(error)))
            return _of_attempt(attempt, "refused", message=error.message)
        self._ended.append(attempt)
        return _of_attempt(attempt, *_outcome(known))


def _error_fields(error: GardenError) -> dict[str, Any]:
    return {"code": error.code, "message": error.message}


def _of_attempt(
    attempt: Attempt, outcome: ReconcileOutcome, events: tuple[UUID, ...] = (), message: str = ""
) -> Reconciliation:
    return Reconciliation(attempt.user_id, attempt.path, State.OPEN, outcome, events, message)


def _of_status(
    status: DocumentStatus, outcome: ReconcileOutcome, message: str, events: tuple[UUID, ...] = ()
) -> Reconciliation:
    return Reconciliation(
        status.user_id, status.path, status.state, outcome, events, message, version=status.version
    )


def _needs_a_person(path: GardenPath, before: State, message: str) -> Reconciliation:
    return Reconciliation(path.user_id, path.text, before, "needs a person", message=message)


def _statuses_not_in_step(
    services: Services,
    user_id: str,
    *,
    linted: bool = True,
    seen: Seen | None = None,
    search: Search | None = None,
) -> Iterator[DocumentStatus]:
    found = status_of_user(services, user_id, linted=linted, seen=seen, search=search)
    return (status for status in found if not status.in_step)


def _plan(status: DocumentStatus) -> Reconciliation:
    needs_a_person = status.state in _NEEDS_A_PERSON
    return _of_status(status, "needs a person" if needs_a_person else "would be opened", status.message)


def _settle_and_adopt(services: Services, status: DocumentStatus, search: Search) -> Reconciliation:
    path = GardenPath(status.path)
    try:
        known = services.recovery_path.settle_and_adopt(_reconciler(path.user_id), path, search)
    except (InProgressError, PoolBusyError) as error:
        return _of_status(status, "busy", error.message)
    except DatabaseUnavailableError:
        # The other documents would fail as well, each after as long a wait.
        raise
    except GardenError as error:
        return _of_status(status, "refused", error.message)
    outcome, events, message = _outcome(known)
    if outcome == "needs a person" or (status.state is State.DAMAGED and not known.moved):
        # A file that drifted and can't be adopted has its reason in the error.
        is_known = status.state in _NEEDS_A_PERSON and status.message
        outcome, message = "needs a person", status.message if is_known else message
        if known.adopted is not None:
            message = f"{message} The edit is recorded."
    return _of_status(status, outcome, message, events)


def _outcome(known: SettledDocument) -> tuple[ReconcileOutcome, tuple[UUID, ...], str]:
    events = tuple(event.event_id for event in (known.settled, known.adopted) if event is not None)
    if known.error is not None:
        return "needs a person", events, known.error.message
    if known.damage:
        return "needs a person", events, "Anchors or identity keys that the tools need are missing."
    message = _message_of(known.adopted) if known.adopted else ""
    if known.moved:
        return "adopted", events, message
    return _outcome_of_events(known.settled, known.adopted, remade=known.rebuilt), events, message


def _message_of(adopted: Event) -> str:
    words = ERASED_WORDS if has_erased_words(adopted) else ""
    return f"{words} {way_back(adopted)}".strip()


def _outcome_of_events(settled: Event | None, adopted: Event | None, *, remade: bool) -> ReconcileOutcome:
    if adopted is not None:
        return "adopted"
    if remade:
        return "made again"
    if settled is not None:
        return "finished" if settled.status is Status.COMMITTED else "undone"
    return "unchanged"


def _reconciler(user_id: str) -> Caller:
    return Caller(user_id, _ACTOR, "maintainer")
