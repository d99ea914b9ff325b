"""Reconciling: what a crash left is brought to its end, and the account learns of edits from outside.

Plain functions over an open garden, each safe at any moment and in any number of copies: whoever works on a
document holds its lock, and finds done what somebody else was faster with.
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
from garden.events.verifier import ChainFault
from garden.files.failpoints import Failpoint, reach
from garden.files.paths import GardenPath, Place
from garden.grammar.errors import GardenError
from garden.upkeep.seen import Seen
from garden.upkeep.status import DocumentStatus, State, status_of_user, why_given_up
from garden.writing.services import Services
from garden.writing.write_path import SettledDocument

Outcome = Literal[
    "would be opened",
    "would be made again", "finished", "undone", "adopted", "made again", "cleared", "unchanged", "busy",
    "quarantined", "needs a person", "refused",
]  # fmt: skip

_ACTOR = "reconciler"
_BATCH_SAGAS = 50
# A person who asks again means it.
_PAUSE_BY_HAND_SECONDS = 0
_BATCH_REQUESTS = 1000
_HELPLESS = {State.DAMAGED, State.MISSING, State.UNREADABLE, State.QUARANTINED}


@dataclass(frozen=True)
class Reconciled:
    """What became of one document; `before` is how it stood, in which `version`."""

    user_id: str
    path: str
    before: State
    outcome: Outcome
    event_ids: tuple[UUID, ...] = ()
    message: str = ""
    version: int = 0

    @property
    def is_well(self) -> bool:
        """Whether nothing is left to do, or only for a while."""
        return self.outcome not in {"needs a person", "refused", "quarantined"}


def reconcile(services: Services, users: Sequence[str], *, dry_run: bool = False) -> Iterator[Reconciled]:
    """Do everything there is to do for some users, whatever its age."""
    for user_id in users:
        if dry_run:
            yield from map(_planned, _not_in_step(services, user_id))
        else:
            swept = sweep(services, timedelta(0), user_id, pause_seconds=_PAUSE_BY_HAND_SECONDS)
            # What was given up is told with all that is not in step.
            yield from (each for each in swept if each.outcome != "quarantined")
            yield from adopt(services, user_id, linted=True)
            yield from clear_strays(services, user_id)


def sweep(
    services: Services,
    older_than: timedelta,
    user_id: str | None = None,
    *,
    pause_seconds: float = PAUSE_SECONDS,
) -> Iterator[Reconciled]:
    """End the changes that were begun so long ago and not ended, a bounded number at once.

    Each attempt is counted before it is made, so that one which takes whoever makes it down is not made for
    ever. One that the disk or the database kept from its end is given back. Nothing is tried twice in one
    sweep.
    """
    tried: list[UUID] = []
    while due := services.recoveries.claim(
        older_than,
        limit=_BATCH_SAGAS,
        user_id=user_id,
        attempts_max=services.upkeep.attempts,
        pause_seconds=pause_seconds,
        but_for=tried,
    ):
        reach(Failpoint.CLAIMED)
        batch = _Batch(services, due)
        yield from batch.worked_on()
        tried += batch.left


def adopt(
    services: Services, user_id: str, *, linted: bool = False, seen: Seen | None = None
) -> Iterator[Reconciled]:
    """Take what was edited outside into the account, and make again what the disk set back.

    One that is `linted` for it is told of as well where no tool edits it though nothing has changed. Whoever
    asks again and again hands in what was `seen`.
    """
    for status in _not_in_step(services, user_id, linted=linted, seen=seen):
        if status.is_folder:
            yield _became(status, "needs a person", status.message)
        elif status.open_event_id is None:
            yield _reconciled(services, status)
        elif status.state is State.QUARANTINED:
            yield _became(status, "quarantined", status.message)


def clear_strays(services: Services, user_id: str) -> Iterator[Reconciled]:
    """Remove the temporary files of writers that were killed, and tell of those that stay."""
    unlisted: dict[GardenPath, GardenError] = {}
    for path in services.files.documents_with_strays(user_id, unlisted.__setitem__):
        try:
            if services.recovery_path.clear_strays(_reconciler(user_id), path):
                yield Reconciled(user_id, path.text, State.IN_STEP, "cleared")
        except (InProgressError, PoolBusyError):
            # It belongs to whoever is writing now.
            continue
        except DatabaseUnavailableError:
            raise
        except GardenError as error:
            message = f"What is named like a temporary file of it can't be removed. {error.message}"
            yield _left(path, State.IN_STEP, message)
    for folder, unseen in unlisted.items():
        # Of those in the garden itself whoever looks at the documents tells.
        if folder.place is Place.HISTORY_FOLDER:
            yield _left(folder, State.UNREADABLE, f"What is in it can't be told. {unseen.message}")


def _left(path: GardenPath, before: State, message: str) -> Reconciled:
    return Reconciled(path.user_id, path.text, before, "needs a person", message=message)


def rebuild_heads(services: Services, user_id: str, *, dry_run: bool = False) -> Iterator[Reconciled]:
    """Make the heads again that do not fit their events; for a person to ask for, who knows why.

    Where the events themselves do not hold, nothing is made of them, and they are named.
    """
    for fault in services.heads.faults(user_id):
        told = Reconciled(user_id, fault.stream, State.UNREADABLE, "would be made again", (), fault.message)
        if not fault.of_head:
            told = replace(told, outcome="needs a person", message=_not_of_head(fault))
        elif not dry_run:
            try:
                services.heads.rebuild(_reconciler(user_id), fault)
                told = replace(told, outcome="made again")
            except GardenError as error:
                told = replace(told, outcome="refused", message=error.message)
        yield told


def _not_of_head(fault: ChainFault) -> str:
    event = f"event {fault.event_id} ({fault.sequence})"
    return f"{event}: {fault.message}. Keep the database as it is, and compare it with a backup."


def forget_expired(services: Services) -> Iterator[int]:
    """Forget attempts at what has ended, and requests past their time; gives how many, batch by batch."""
    services.recoveries.forget_outdated()
    while count := services.maintenance.forget_expired_requests(limit=_BATCH_REQUESTS):
        yield count


class _Batch:
    """Some stalled sagas that were claimed, and what became of each."""

    def __init__(self, services: Services, due: Sequence[Attempt]) -> None:
        self._services = services
        self._due = due
        self._ended: list[Attempt] = []
        self._busy: list[Attempt] = []
        self._failed: list[tuple[Attempt, dict[str, Any]]] = []
        self._put_off: list[tuple[Attempt, dict[str, Any]]] = []

    @property
    def left(self) -> list[UUID]:
        """The sagas that are still open."""
        told = (attempt for attempt, _ in (*self._failed, *self._put_off))
        return [attempt.event_id for attempt in (*self._busy, *told)]

    def worked_on(self) -> list[Reconciled]:
        done = []
        for place, attempt in enumerate(self._due):
            try:
                done.append(self._tried(attempt))
            except DatabaseUnavailableError as error:
                # Those after it were not tried at all.
                self._put_off.append((attempt, _told(error)))
                self._busy += self._due[place + 1 :]
                # Where the account can't be told of it either, the attempts stay counted.
                with suppress(GardenError):
                    self._note()
                raise
        self._note()
        return done

    def _note(self) -> None:
        recoveries = self._services.recoveries
        recoveries.ended(self._ended)
        recoveries.busy(self._busy)
        recoveries.put_off(self._put_off)
        recoveries.failed(self._failed)

    def _tried(self, attempt: Attempt) -> Reconciled:
        if attempt.quarantined:
            message = why_given_up(attempt.attempts - 1, attempt.error)
            return _of(attempt, "quarantined", message=message)
        caller = _reconciler(attempt.user_id)
        try:
            known = self._services.recovery_path.settle_and_adopt(caller, GardenPath(attempt.path))
        except (InProgressError, PoolBusyError) as error:
            self._busy.append(attempt)
            return _of(attempt, "busy", message=error.message)
        except DatabaseUnavailableError:
            # Nothing is known of this one, and the others would fare no better.
            raise
        except GardenError as error:
            (self._put_off if error.code == "unavailable" else self._failed).append((attempt, _told(error)))
            return _of(attempt, "refused", message=error.message)
        self._ended.append(attempt)
        return _of(attempt, *_outcome(known))


def _told(error: GardenError) -> dict[str, Any]:
    return {"code": error.code, "message": error.message}


def _of(attempt: Attempt, outcome: Outcome, events: tuple[UUID, ...] = (), message: str = "") -> Reconciled:
    return Reconciled(attempt.user_id, attempt.path, State.OPEN, outcome, events, message)


def _not_in_step(
    services: Services, user_id: str, *, linted: bool = True, seen: Seen | None = None
) -> Iterator[DocumentStatus]:
    found = status_of_user(services, user_id, linted=linted, seen=seen)
    return (status for status in found if not status.in_step)


def _planned(status: DocumentStatus) -> Reconciled:
    outcome: Outcome = "needs a person" if status.state in _HELPLESS else "would be opened"
    return _became(status, outcome, status.message)


def _became(
    status: DocumentStatus, outcome: Outcome, message: str, events: tuple[UUID, ...] = ()
) -> Reconciled:
    return Reconciled(
        status.user_id, status.path, status.state, outcome, events, message, version=status.version
    )


def _reconciled(services: Services, status: DocumentStatus) -> Reconciled:
    path = GardenPath(status.path)
    try:
        known = services.recovery_path.settle_and_adopt(_reconciler(path.user_id), path)
    except (InProgressError, PoolBusyError) as error:
        return _became(status, "busy", error.message)
    except DatabaseUnavailableError:
        # The others would fare no better, each after as long a wait.
        raise
    except GardenError as error:
        return _became(status, "refused", error.message)
    outcome, events, message = _outcome(known)
    if outcome == "needs a person" or status.state is State.DAMAGED:
        outcome, message = "needs a person", status.message or message
        if known.adopted is not None:
            message = f"{message} The edit is in the account now."
    return _became(status, outcome, message, events)


def _outcome(known: SettledDocument) -> tuple[Outcome, tuple[UUID, ...], str]:
    events = tuple(event.event_id for event in (known.settled, known.adopted) if event is not None)
    if known.error is not None:
        return "needs a person", events, known.error.message
    if known.damage:
        return "needs a person", events, "Tools miss what they hold on to in it."
    return _said(known.settled, known.adopted, remade=known.remade), events, ""


def _said(settled: Event | None, adopted: Event | None, *, remade: bool) -> Outcome:
    if adopted is not None:
        return "adopted"
    if remade:
        return "made again"
    if settled is not None:
        return "finished" if settled.status is Status.COMMITTED else "undone"
    return "unchanged"


def _reconciler(user_id: str) -> Caller:
    return Caller(user_id, _ACTOR, "maintainer")
