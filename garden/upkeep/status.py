"""The state of every document: whether its file is what its head says, and whether a saga is open.

Nothing here changes anything or takes a lock.
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
from garden.events.records import Head
from garden.events.rows import head_of, last_change_of
from garden.files.errors import FileError, FileMissingError
from garden.files.garden_files import FileText
from garden.files.paths import GardenPath, PathNotAllowedError
from garden.grammar.errors import GardenError
from garden.upkeep.seen import Seen
from garden.writing.adoption import find_damage
from garden.writing.erased_text import OLD_COPY
from garden.writing.hand_moves import Search
from garden.writing.lost_copies import copy_left_by
from garden.writing.lost_lines import format_lost_lines
from garden.writing.services import Services

_TRIES = 5
_NO_HEAD: Mapping[str, Any] = {
    "version": 0,
    "raw_hash": None,
    "has_file": False,
    "open_event_id": None,
    "damage": None,
    "updated_at": None,
}
# Errors that concern no single document; the next one would meet them as well.
_NOT_OF_A_DOCUMENT = (DatabaseUnavailableError, PoolBusyError, InProgressError)


class State(StrEnum):
    """The state of a document."""

    IN_STEP = "in step"
    NEW = "new"
    DRIFTED = "drifted"
    OPEN = "open"
    QUARANTINED = "quarantined"
    DAMAGED = "damaged"
    MOVED = "moved"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    COPY_LOST = "copy lost"


@dataclass(frozen=True)
class DocumentStatus:
    """The state of one document, or of a folder that can't be listed, with a message for people."""

    user_id: str
    path: str
    version: int
    state: State
    message: str = ""
    updated_at: datetime | None = None
    open_event_id: UUID | None = None

    @property
    def is_folder(self) -> bool:
        """Whether this is a folder whose content is unknown."""
        return not self.path.endswith(".md")

    @property
    def in_step(self) -> bool:
        """Whether the file is whole and what its head says, and no saga is open."""
        return self.state is State.IN_STEP


def known_users(services: Services) -> list[str]:
    """Users who have a garden or events here."""
    return sorted({path.user_id for path in services.files.users()} | set(services.maintenance.users()))


def status_of_user(
    services: Services,
    user_id: str,
    *,
    linted: bool = True,
    seen: Seen | None = None,
    search: Search | None = None,
) -> Iterator[DocumentStatus]:
    """Yield the state of every document of a user, on the disk or in the events, by path.

    Without `linted` a document that equals its head counts as whole. A document that was `seen` in step, and
    whose file and head have not changed, is left out. A folder that can't be listed and events that do not
    verify are statuses, not errors; folders come first. `search` looks for moves by hand.
    """
    try:
        yield from _every_status(services, user_id, linted=linted, seen=seen, search=search)
    except (PathNotAllowedError, NotRecordableError):
        # A path or a value that the service never records: someone changed the database.
        message = "Its events are not as they were written. 'garden keys verify' tells more."
        yield DocumentStatus(user_id, f"users/{user_id}", 0, State.UNREADABLE, message)


def _every_status(
    services: Services, user_id: str, *, linted: bool, seen: Seen | None, search: Search | None
) -> Iterator[DocumentStatus]:
    with services.reader.snapshot(user_id) as snapshot:
        # The journal is a stream of no document.
        heads = {
            row["path"]: row for row in snapshot.fetch("heads_with_damage", {"path": None}) if row["path"]
        }
    troubles = {each.event_id: each for each in services.recoveries.troubles(user_id)}
    unlisted: dict[GardenPath, FileError] = {}
    found = services.files.documents(GardenPath(f"users/{user_id}"), unlisted.__setitem__)
    there = {path.text for path in found}
    yield from (_status_of_folder(folder, error) for folder, error in unlisted.items())
    search = search or services.write_path.hand_moves.search_once(user_id)
    for text in sorted(there | heads.keys()):
        path, head = GardenPath(text), heads.get(text)
        if seen is not None and head is not None and _is_in_step(services, seen, path, head):
            continue
        status = _status(services, path, head)
        if status is not None:
            status = _with_move(_with_trouble(status, troubles), search)
            yield _with_lint(services, status) if linted else status


def _with_move(status: DocumentStatus, search: Search) -> DocumentStatus:
    """Say of a missing or new document that it was moved, or that this is not clear."""
    if status.state not in {State.MISSING, State.NEW}:
        return status
    path, found = GardenPath(status.path), search()
    if move := found.of(path):
        message = f"It was moved by hand: {move.old} is now {move.new}. The next edit records that."
        return replace(status, state=State.MOVED, message=message)
    if not (files := sorted(each.text for each in found.candidates.get(path, ()))):
        return status
    message = f"{status.message} It may be one of {', '.join(files)}, but it is not clear which document is."
    return replace(status, message=message)


def _status_of_folder(folder: GardenPath, error: FileError) -> DocumentStatus:
    message = f"This folder can't be listed. {error.message}"
    return DocumentStatus(folder.user_id, folder.text, 0, State.UNREADABLE, message)


def _is_in_step(services: Services, seen: Seen, path: GardenPath, head: Mapping[str, Any]) -> bool:
    """Whether a document is in step; its file is read only if `seen` does not know."""
    if head["open_event_id"] is not None or head["damage"]:
        return False
    try:
        if seen.is_in_step(path.text, services.files.stamp(path), head):
            return True
        read_at_ns, file = time.time_ns(), services.files.read(path)
    except GardenError:
        return False
    if file.hash != head["raw_hash"] or _has_lost_copy(services, path, head):
        return False
    seen.remember(path.text, file.stamp, head, read_at_ns)
    return True


def quarantine_message(attempts: int, error: Mapping[str, Any] | None) -> str:
    """Explain why a saga is left to a person."""
    why = error["message"] if error else "Every attempt ended without a reason, as after a crash."
    return f"An interrupted change could not be settled in {attempts} attempts. {why}"


def _with_trouble(status: DocumentStatus, troubles: Mapping[UUID, Trouble]) -> DocumentStatus:
    trouble = troubles.get(status.open_event_id) if status.open_event_id else None
    if trouble is None:
        return status
    if trouble.quarantined_at is None:
        why = trouble.error["message"] if trouble.error else ""
        return replace(status, message=f"{status.message} {why} The service tries again by itself.")
    message = quarantine_message(trouble.attempts - 1, trouble.error)
    retry = "Remove the cause, then run 'garden reconcile --quarantined' to try once more."
    return replace(status, state=State.QUARANTINED, message=f"{message} {retry}")


def _with_lint(services: Services, status: DocumentStatus) -> DocumentStatus:
    """Call a document that seems well damaged if a finding blocks every edit."""
    if status.state not in {State.IN_STEP, State.DRIFTED, State.NEW}:
        return status
    path = GardenPath(status.path)
    try:
        reasons = services.documents.parse_file(path, services.files.read(path)).report.blocked_reasons
    except GardenError:
        return status
    if not reasons:
        return status
    return replace(status, state=State.DAMAGED, message=f"No tool can edit it: {reasons[0]}")


def _status(services: Services, path: GardenPath, head: Mapping[str, Any] | None) -> DocumentStatus | None:
    """Find a document's state; look again if it was written meanwhile."""
    status = _look(services, path, head)
    for _ in range(_TRIES):
        if status is None or status.in_step:
            return status
        now = _head(services, path)
        if now == head:
            return status
        head, status = now, _look(services, path, now)
    return status


def _head(services: Services, path: GardenPath) -> Mapping[str, Any] | None:
    with services.reader.snapshot(path.user_id) as snapshot:
        rows = snapshot.fetch("heads_with_damage", {"path": path.text})
    return rows[0] if rows else None


def _look(services: Services, path: GardenPath, head: Mapping[str, Any] | None) -> DocumentStatus | None:
    head = head or _NO_HEAD
    file, problem = _read(services, path)
    is_nothing = file is None and problem is None and not head["has_file"]
    if is_nothing and head["open_event_id"] is None:
        return None
    try:
        state, message = _state(services, path, head, file, problem)
    except _NOT_OF_A_DOCUMENT:
        raise
    except GardenError as error:
        # The events are not as they were written; 'garden keys verify' says where.
        state, message = State.UNREADABLE, error.message
    return DocumentStatus(
        path.user_id, path.text, head["version"], state, message, head["updated_at"], head["open_event_id"]
    )


def _read(services: Services, path: GardenPath) -> tuple[FileText | None, str | None]:
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
        return State.OPEN, "A change was interrupted."
    if problem is None and not services.files.declared.allow(path):
        problem = "No kind of this home declares its path any more, so no tool opens it."
    if problem is not None:
        return State.UNREADABLE, problem
    if file is None:
        restore = f"garden restore {path} --version {head['version']}"
        return State.MISSING, f"The file is missing. '{restore}' brings it back."
    if file.hash == head["raw_hash"]:
        damage = head["damage"]
    else:
        services.head_guard.check(path.user_id, path.text, Head() if head is _NO_HEAD else head_of(head))
        old = services.reader.text_at(path.user_id, path.text, head["version"]) if head["version"] else None
        damage = find_damage(old, services.documents.parse_file(path, file), head["damage"])
    if damage:
        return State.DAMAGED, f"Missing: {_names(damage)}. 'garden repair' puts it back."
    if file.hash == head["raw_hash"]:
        if _has_lost_copy(services, path, head):
            return State.COPY_LOST, "The copy of the version before is missing; the service makes it again."
        return State.IN_STEP, ""
    if services.write_path.erased_text.words.is_old_copy(path.user_id, file.hash):
        return State.DRIFTED, OLD_COPY
    if head["version"]:
        removed = format_lost_lines(old or "", file.text, services.write_path.adopter.recent_events(path))
        back = f"{removed} 'garden restore {path} --version {head['version']}' undoes it." if removed else ""
        return State.DRIFTED, f"It was edited outside the tools; the next edit adopts that.{back}"
    return State.NEW, "It was created outside the tools; the next edit adopts it."


def _has_lost_copy(services: Services, path: GardenPath, head: Mapping[str, Any]) -> bool:
    """Whether the last change of a document lacks the copy that it left in the history."""
    change = last_change_of(head)
    copy = copy_left_by(path, change) if change else None
    return copy is not None and not services.files.exists(copy)


def _names(damage: Mapping[str, Any]) -> str:
    anchors = [f"the anchor '{anchor}'" for anchor in damage.get("anchors", [])]
    identity = [f"the identity key '{key}'" for key in damage.get("identity", {})]
    return ", ".join(anchors + identity)
