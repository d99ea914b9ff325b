"""Checks what must hold after a fault, in a process that meets no fault."""

import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from garden.application import Garden
from garden.events.saga import Status
from garden.grammar.canonical import raw_hash
from garden.tools.error_codes import CODES
from garden.upkeep.reconciliation import reconcile
from garden.upkeep.status import State, status_of_user
from tests.crash.operations import Operation, events_of, session_of
from tests.crash.strace import Called, Fault
from tests.support.crowd import REPOSITORY
from tests.support.folders import PREFIX
from tests.support.promises import broken_promises

Envelope = dict[str, Any]

# How an error says that the change may have happened.
_IN_DOUBT = re.compile(r"stays closed until|was recorded and written|whether this was recorded")
_PLACES = (tempfile.gettempdir(), PREFIX, sys.prefix, str(REPOSITORY))
_HOST = re.compile("|".join([*map(re.escape, _PLACES), "/proc/", "Traceback", 'File "']))


@dataclass
class Seen:
    """What a trial left behind."""

    faults: tuple[Fault, ...]
    calls: list[Called]
    envelopes: list[Envelope]
    killed: bool
    hashes_before: frozenset[str]
    handles: tuple[int, int] = (0, 0)
    files: dict[str, tuple[int, str]] = field(default_factory=dict)
    sealed: frozenset[str | None] = frozenset()

    @property
    def hits(self) -> list[Called]:
        return self.calls[-1:] if self.killed else [call for call in self.calls if call.was_injected]

    @property
    def outcome(self) -> str:
        if self.killed:
            return "killed"
        if all(envelope["ok"] for envelope in self.envelopes):
            return "answered"
        errors = [envelope["error"]["message"] for envelope in self.envelopes if not envelope["ok"]]
        return "in doubt" if any(map(_IN_DOUBT.search, errors)) else "refused"


def hashes_of(garden: Garden, user_id: str) -> dict[str, tuple[int, str]]:
    """Map every document of a user to its inode and the hash of its bytes."""
    home = garden.home.path
    return {
        str(file.relative_to(home)): (file.stat().st_ino, raw_hash(file.read_bytes()))
        for file in (home / "users" / user_id).rglob("*.md")
        if not file.name.startswith(".new-")
    }


def sealed_hashes(garden: Garden, user_id: str) -> frozenset[str | None]:
    """The hashes of all versions whose change is committed."""
    return frozenset(
        event.intended_raw_hash
        for path in hashes_of(garden, user_id)
        for event in events_of(garden, user_id, path)
        if event.status is Status.COMMITTED
    )


def wrong_with(garden: Garden, operation: Operation, user_id: str, seen: Seen) -> Iterator[str]:
    """Check a trial, settle what a fault may leave, and name the broken promises."""
    yield from _wrong_with_answers(seen)
    yield from _torn_files(garden, user_id, seen)
    yield from _wrong_with_handles(seen)
    yield from _lost_copies(garden, user_id, seen)
    yield from _recovered(garden, user_id)
    yield from _wrong_with_effects(garden, operation, user_id, seen)
    yield from _not_written_anew(garden, user_id, seen)
    yield from _wrong_when_sent_again(garden, operation, user_id)
    yield from broken_promises(garden, user_id, spare_copies=operation.spare_copies)


def _wrong_with_answers(seen: Seen) -> Iterator[str]:
    for envelope in seen.envelopes:
        if not envelope["ok"]:
            yield from _wrong_with_error(envelope["error"])
        elif _HOST.search(str(envelope)):
            yield f"an answer names what is the host's own: {envelope}"
    failed_sync = [hit for hit in seen.hits if hit.name in {"fsync", "fdatasync"} and hit.was_injected]
    if failed_sync and not seen.killed and _claims_success(seen.envelopes[0]):
        yield f"success was answered after an fsync that failed: {failed_sync[0].line}"


def _claims_success(envelope: Envelope) -> bool:
    """Whether an answer reports success; reconciling answers for each document separately."""
    if not envelope["ok"]:
        return False
    done = envelope["result"]
    return not isinstance(done, list) or all(
        outcome not in {"refused", "needs a person"} for _, outcome, _ in done
    )


def _wrong_with_error(error: dict[str, Any]) -> Iterator[str]:
    if error["code"] == "internal" or error["code"] not in CODES:
        yield f"the code is {error['code']}: {error['message']}"
    if not error["hint"]:
        yield f"an error without a hint: {error['message']}"
    if _HOST.search(str(error)):
        yield f"an error names what is the host's own: {error['message']}"


def _torn_files(garden: Garden, user_id: str, seen: Seen) -> Iterator[str]:
    for path, (_, found) in seen.files.items():
        meant = {event.intended_raw_hash for event in events_of(garden, user_id, path)}
        if found not in seen.hashes_before | meant:
            yield f"{path}: the file is neither the old text nor the new one"


def _wrong_with_handles(seen: Seen) -> Iterator[str]:
    before, after = seen.handles
    not_closed = sum(hit.name == "close" for hit in seen.hits)
    if not seen.killed and after > before + not_closed:
        yield f"{after - before - not_closed} handles were left open"


def _lost_copies(garden: Garden, user_id: str, seen: Seen) -> Iterator[str]:
    """What is answered is complete; recovery would make up for a missing copy."""
    lost = (each for each in status_of_user(garden.services, user_id) if each.state is State.COPY_LOST)
    if seen.outcome == "answered":
        yield from (f"{each.path}: it was answered, and its copy is missing" for each in lost)


def _recovered(garden: Garden, user_id: str) -> Iterator[str]:
    for each in reconcile(garden.services, [user_id]):
        if not each.is_well:
            yield f"{each.path}: recovery says {each.outcome}: {each.message}"


def _wrong_with_effects(garden: Garden, operation: Operation, user_id: str, seen: Seen) -> Iterator[str]:
    found = operation.effects(garden, user_id)
    allowed = {"answered": {operation.times}, "refused": {0}}.get(seen.outcome, {0, operation.times})
    if operation.is_recovery or any(envelope["ok"] for envelope in seen.envelopes):
        allowed = {operation.times}
    if not any(found.are(count) for count in allowed):
        said = [each if not each["ok"] else "ok" for each in seen.envelopes]
        yield f"{found} after it was {seen.outcome}, {allowed} allowed: {said}"
    if operation.also is not None and not operation.also(garden, user_id).are(operation.also_times):
        yield f"{operation.also(garden, user_id)} of what was begun before"


def _not_written_anew(garden: Garden, user_id: str, seen: Seen) -> Iterator[str]:
    """A second fsync does not make up for a failed one: the content must be written again.

    The process that met the failure does so with its next write. Another one relies on the account where the
    change is sealed: if the disk loses the file, it is made again from there.
    """
    files = [
        hit
        for hit in seen.hits
        if hit.name == "fsync" and not seen.killed and f"/users/{user_id}" in hit.line
    ]
    if not files or seen.outcome != "in doubt":
        return
    now = hashes_of(garden, user_id)
    for path, (inode, found) in seen.files.items():
        if found not in seen.hashes_before | seen.sealed and path in now and now[path][0] == inode:
            yield f"{path}: the disk did not confirm it, and it was not written anew"


def _wrong_when_sent_again(garden: Garden, operation: Operation, user_id: str) -> Iterator[str]:
    session, asked = session_of(garden, user_id), operation.ask(user_id)
    if not operation.is_recovery:
        again = session.call(*asked)
        if not again["ok"]:
            yield f"sent again it is refused: {again['error']}"
        if not operation.effects(garden, user_id).are(operation.times):
            yield f"{operation.effects(garden, user_id)} when it was sent again"
    after = session.call(*operation.next_write(user_id, "and then;"))
    if not after["ok"]:
        yield f"the next write is refused: {after['error']}"
    open_events = [
        event
        for path in hashes_of(garden, user_id)
        for event in events_of(garden, user_id, path)
        if event.status in {Status.PENDING, Status.WRITTEN}
    ]
    yield from (f"event {event.event_id} of {event.stream} is still open" for event in open_events)


def texts_before(garden: Garden, user_id: str) -> frozenset[str]:
    return frozenset(found for _, found in hashes_of(garden, user_id).values())
