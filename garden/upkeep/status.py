"""How every document stands: whether its file is what the account says, and whether anything is left open.

Nothing is changed here, and nobody is kept waiting: no lock is taken.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from garden.events.attempts import Trouble
from garden.events.database import DatabaseUnavailableError
from garden.events.idempotency import InProgressError
from garden.events.pool import NotRecordableError, PoolBusyError
from garden.files.errors import FileError, FileMissingError
from garden.files.garden_files import FileText
from garden.files.paths import GardenPath, PathNotAllowedError
from garden.grammar.errors import GardenError
from garden.upkeep.seen import Seen
from garden.writing.adoption import find_damage
from garden.writing.services import Services
from garden.writing.settlement import EMPTY_HASH

_TRIES = 5
# Troubles that say nothing of one document, and that would only be met again with the next.
_EVERYBODYS = (DatabaseUnavailableError, PoolBusyError, InProgressError)


class State(StrEnum):
    """How a document stands."""

    IN_STEP = "in step"
    NEW = "new"
    DRIFTED = "drifted"
    OPEN = "open"
    QUARANTINED = "quarantined"
    DAMAGED = "damaged"
    MISSING = "missing"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class DocumentStatus:
    """How one document stands, or a folder that can't be listed, and what is to be said about it."""

    user_id: str
    path: str
    version: int
    state: State
    message: str = ""
    updated_at: datetime | None = None
    open_event_id: UUID | None = None

    @property
    def is_folder(self) -> bool:
        """Whether this is said of a folder, and of whatever unknown lies in it."""
        return not self.path.endswith(".md")

    @property
    def in_step(self) -> bool:
        """Whether the file is what the account says, and whole, and nothing is left open."""
        return self.state is State.IN_STEP


def users_of(services: Services) -> list[str]:
    """Name every user who has a garden here, or whom the account knows."""
    return sorted({path.user_id for path in services.files.users()} | set(services.maintenance.users()))


def others_of(services: Services, user_id: str) -> int:
    """Count what lies beside a user's documents and is no part of the garden."""
    return services.files.count_others(GardenPath(f"users/{user_id}"))


def status_of_user(
    services: Services, user_id: str, *, linted: bool = True, seen: Seen | None = None
) -> Iterator[DocumentStatus]:
    """Look at every document of a user, those on the disk and those the account knows, in order.

    One that is not `linted` is taken to be whole where it is what the account says. One that was `seen` in
    step, and whose file and head have not changed, is left out. Folders that can't be listed come first:
    they are findings and no errors, and so is an account that is not as it was written.
    """
    try:
        yield from _every_status(services, user_id, linted=linted, seen=seen)
    except (PathNotAllowedError, NotRecordableError):
        # It names what is no path of a garden, or holds a value that nobody could have recorded.
        message = "Its account is not as it was written. 'garden keys verify' tells more."
        yield DocumentStatus(user_id, f"users/{user_id}", 0, State.UNREADABLE, message)


def _every_status(
    services: Services, user_id: str, *, linted: bool, seen: Seen | None
) -> Iterator[DocumentStatus]:
    with services.reader.snapshot(user_id) as snapshot:
        # The journal is a stream of no document.
        heads = {row["path"]: row for row in snapshot.fetch("standings", {"path": None}) if row["path"]}
    troubles = {each.event_id: each for each in services.recoveries.troubles(user_id)}
    unlisted: dict[GardenPath, FileError] = {}
    found = services.files.documents(GardenPath(f"users/{user_id}"), unlisted.__setitem__)
    there = {path.text for path in found}
    yield from (_unlisted(folder, error) for folder, error in unlisted.items())
    for text in sorted(there | heads.keys()):
        path, head = GardenPath(text), heads.get(text)
        if seen is not None and head is not None and _is_as_seen(services, seen, path, head):
            continue
        status = _status(services, path, head)
        if status is not None:
            status = _troubled(status, troubles)
            yield _checked(services, status) if linted else status


def _unlisted(folder: GardenPath, error: FileError) -> DocumentStatus:
    message = f"What is in it can't be told. {error.message}"
    return DocumentStatus(folder.user_id, folder.text, 0, State.UNREADABLE, message)


def _is_as_seen(services: Services, seen: Seen, path: GardenPath, head: Mapping[str, Any]) -> bool:
    """Whether a document is in step; its file is read only where what was seen of it does not say so."""
    if head["open_event_id"] is not None or head["damage"]:
        return False
    try:
        if seen.is_in_step(path.text, services.files.look(path), head):
            return True
        read_at_ns, file = time.time_ns(), services.files.read(path)
    except GardenError:
        return False
    if file.hash != head["raw_hash"]:
        return False
    seen.was_in_step(path.text, file.look, head, read_at_ns)
    return True


def why_given_up(attempts: int, error: Mapping[str, Any] | None) -> str:
    """Say why a change is left to a person."""
    why = error["message"] if error else "None of them came back to say why."
    return f"A change was begun and could not be brought to its end in {attempts} attempts. {why}"


def _troubled(status: DocumentStatus, troubles: Mapping[UUID, Trouble]) -> DocumentStatus:
    trouble = troubles.get(status.open_event_id) if status.open_event_id else None
    if trouble is None:
        return status
    if trouble.quarantined_at is None:
        why = trouble.error["message"] if trouble.error else ""
        return replace(status, message=f"{status.message} {why} It is tried again by itself.")
    message = why_given_up(trouble.attempts - 1, trouble.error)
    retry = "When the reason is gone, 'garden reconcile --quarantined' tries once more."
    return replace(status, state=State.QUARANTINED, message=f"{message} {retry}")


def _checked(services: Services, status: DocumentStatus) -> DocumentStatus:
    """Say of a document that seems well whether tools leave it alone all the same."""
    if status.state not in {State.IN_STEP, State.DRIFTED, State.NEW}:
        return status
    path = GardenPath(status.path)
    try:
        reasons = services.documents.parse_file(path, services.files.read(path)).report.blocked_reasons
    except GardenError:
        return status
    if not reasons:
        return status
    return replace(status, state=State.DAMAGED, message=f"No tool edits it: {reasons[0]}")


def _status(services: Services, path: GardenPath, head: Mapping[str, Any] | None) -> DocumentStatus | None:
    """Judge a document; one that is being written while it is looked at is looked at again."""
    status = _judged(services, path, head)
    for _ in range(_TRIES):
        if status is None or status.in_step:
            return status
        now = _head(services, path)
        if now == head:
            return status
        head, status = now, _judged(services, path, now)
    return status


def _head(services: Services, path: GardenPath) -> Mapping[str, Any] | None:
    with services.reader.snapshot(path.user_id) as snapshot:
        rows = snapshot.fetch("standings", {"path": path.text})
    return rows[0] if rows else None


def _judged(services: Services, path: GardenPath, head: Mapping[str, Any] | None) -> DocumentStatus | None:
    head = head or {"version": 0, "raw_hash": None, "open_event_id": None, "damage": None, "updated_at": None}
    file, problem = _file(services, path)
    is_nothing = file is None and problem is None and head["raw_hash"] in {None, EMPTY_HASH}
    if is_nothing and head["open_event_id"] is None:
        return None
    try:
        state, message = _state(services, path, head, file, problem)
    except _EVERYBODYS:
        raise
    except GardenError as error:
        # The account itself is not as it was written; 'garden keys verify' says where.
        state, message = State.UNREADABLE, error.message
    return DocumentStatus(
        path.user_id, path.text, head["version"], state, message, head["updated_at"], head["open_event_id"]
    )


def _file(services: Services, path: GardenPath) -> tuple[FileText | None, str | None]:
    try:
        return services.files.read(path), None
    except FileMissingError:
        return None, None
    except GardenError as error:
        return None, error.message


def _state(
    services: Services, path: GardenPath, head: Mapping[str, Any], file: FileText | None, problem: str | None
) -> tuple[State, str]:
    if head["open_event_id"] is not None:
        return State.OPEN, "A change was begun and has not come to its end."
    if problem is not None:
        return State.UNREADABLE, problem
    if file is None:
        held = f"the account holds version {head['version']} of it"
        way = f"'garden restore {path} --version {head['version']}' makes it anew"
        return State.MISSING, f"The file is gone, and {held}. {way}."
    if file.hash == head["raw_hash"]:
        missed = head["damage"]
    else:
        old = services.reader.text_at(path.user_id, path.text, head["version"]) if head["version"] else None
        missed = find_damage(old, services.documents.parse_file(path, file), head["damage"])
    if missed:
        return State.DAMAGED, f"Tools miss {_shown(missed)} in it. 'garden repair' mends that."
    if file.hash == head["raw_hash"]:
        return State.IN_STEP, ""
    if head["version"]:
        return State.DRIFTED, "It was edited outside the tools; the next edit takes that into the account."
    return State.NEW, "It was begun outside the tools; the next edit takes it into the account."


def _shown(damage: Mapping[str, Any]) -> str:
    anchors = [f"the anchor '{anchor}'" for anchor in damage.get("anchors", [])]
    identity = [f"the identity key '{key}'" for key in damage.get("identity", {})]
    return ", ".join(anchors + identity)
