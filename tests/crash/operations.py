"""The operations that meet faults: what each needs beforehand, and how its effects are counted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from unittest import mock

from garden.application import Garden
from garden.events.payloads import payload_json
from garden.events.records import JOURNAL, Event
from garden.events.rows import event_of
from garden.events.saga import Status
from garden.events.stream import LockedStream
from garden.files.prepared_file import PreparedFile
from garden.session import Session
from garden.writing.planner import MOVE_OP
from tests.support.crowd import Asked
from tests.support.planted import notes_text, ok, patching, profile_text
from tests.support.promises import inserted_by, removed_by

RECONCILE = "reconcile"
SAID = "said once;"
STALLED = "stalled once;"
BY_HAND = "by hand;"
_SECTIONS = 10


@dataclass(frozen=True)
class Effects:
    """How often a change happened, according to the events and to the files."""

    recorded: int
    there: int

    def are(self, count: int) -> bool:
        return self.recorded == self.there == count


Made = Callable[[Garden, str], None]
Found = Callable[[Garden, str], Effects]
Asking = Callable[[str], Asked]


@dataclass(frozen=True)
class Operation:
    """An operation; `also` counts an earlier change, which must be there `also_times`.

    With `tries_plan` the process knows the document's head beforehand.
    """

    name: str
    path: str
    before: Made
    ask: Asking
    effects: Found
    also: Found | None = None
    also_times: int = 1
    times: int = 1
    spare_copies: bool = False
    tries_plan: bool = False

    @property
    def is_recovery(self) -> bool:
        return self.ask("nobody")[0] == RECONCILE

    def next_write(self, user_id: str, words: str) -> Asked:
        """A later request to the same document."""
        path = self.path.format(user=user_id)
        if path.endswith("notes.md"):
            return "fs.append", {"path": path, "text": words}
        return patching(path, "strengths v1", words)


PROFILE = "users/{user}/parts/critic/profile.md"
NOTES = "users/{user}/notes.md"
MOVED = "users/{user}/parts/critic/notes.md"


def session_of(garden: Garden, user_id: str) -> Session:
    return garden.session(user_id, "companion", role="maintainer")


def events_of(garden: Garden, user_id: str, stream: str) -> list[Event]:
    with garden.services.reader.snapshot(user_id) as snapshot:
        return [event_of(row) for row in snapshot.rows("chain", {"stream": stream})]


def patch(user_id: str, said: str = SAID, anchor: str = "concerns v1") -> Asked:
    return patching(PROFILE.format(user=user_id), anchor, said, idempotencyKey=f"the key of {said}")


def append(user_id: str) -> Asked:
    return "fs.append", {"path": NOTES.format(user=user_id), "text": SAID, "idempotencyKey": "the key"}


def plant(user_id: str) -> Asked:
    path = PROFILE.format(user=user_id)
    return "md.plant", {"path": path, "title": SAID, "idempotencyKey": "the key"}


def move(user_id: str) -> Asked:
    paths = {"path": NOTES.format(user=user_id), "newPath": MOVED.format(user=user_id)}
    return "fs.move", {**paths, "idempotencyKey": "the key"}


def snapshot(user_id: str) -> Asked:
    return "md.snapshot_history", {"path": PROFILE.format(user=user_id), "idempotencyKey": "the key"}


def log(_user_id: str) -> Asked:
    return "events.log", {"type": "observation", "rationale": SAID, "idempotencyKey": "the key"}


def settle(user_id: str) -> Asked:
    return RECONCILE, {"user": user_id}


def a_profile(garden: Garden, user_id: str) -> None:
    _begin(garden, user_id, PROFILE, profile_text(_SECTIONS))


def notes(garden: Garden, user_id: str) -> None:
    _begin(garden, user_id, NOTES, notes_text(_SECTIONS))


def _begin(garden: Garden, user_id: str, path: str, text: str) -> None:
    asked = {"path": path.format(user=user_id), "content": text.replace(": ada\n", f": {user_id}\n")}
    ok(session_of(garden, user_id).call("fs.write", asked))


def nothing(_garden: Garden, _user_id: str) -> None:
    pass


def an_outside_edit(garden: Garden, user_id: str) -> None:
    a_profile(garden, user_id)
    with (garden.home.path / PROFILE.format(user=user_id)).open("a") as file:
        file.write(f"- {BY_HAND}\n")


class _GoneError(BaseException):
    pass


def _stall(garden: Garden, user_id: str, owner: type, step: str) -> None:
    a_profile(garden, user_id)
    with mock.patch.object(owner, step, side_effect=_GoneError):
        try:
            session_of(garden, user_id).call(*patch(user_id, STALLED, "needs v1"))
        except _GoneError:
            return
    raise AssertionError


def stalled_before(garden: Garden, user_id: str) -> None:
    _stall(garden, user_id, PreparedFile, "put")
    file = garden.home.path / PROFILE.format(user=user_id)
    file.with_name(f".new-{file.name}-{'0' * 16}").write_text("half a te")


def stalled_after(garden: Garden, user_id: str) -> None:
    _stall(garden, user_id, LockedStream, "finish")


def stalled_without_copy(garden: Garden, user_id: str) -> None:
    stalled_after(garden, user_id)
    (copy,) = (garden.home.path / "history" / user_id).rglob("*.md")
    copy.unlink()


def saying(words: str, path: str) -> Found:
    """Count these words in a document, and the events that brought them."""

    def found(garden: Garden, user_id: str) -> Effects:
        where = path.format(user=user_id)
        file = garden.home.path / where
        recorded = [
            event
            for event in events_of(garden, user_id, where)
            if event.status is Status.COMMITTED
            and inserted_by(event).count(words) > removed_by(event).count(words)
        ]
        return Effects(len(recorded), file.read_text().count(words) if file.exists() else 0)

    return found


def moved(garden: Garden, user_id: str) -> Effects:
    old, new = (garden.home.path / path.format(user=user_id) for path in (NOTES, MOVED))
    kinds = [
        sum(event.status is Status.COMMITTED and event.statement.op == MOVE_OP for event in events)
        for events in (events_of(garden, user_id, path.format(user=user_id)) for path in (NOTES, MOVED))
    ]
    # A departure without its arrival is half a move: neither done nor undone.
    recorded = kinds[0] if kinds[0] == kinds[1] else -1
    return Effects(recorded, int(new.exists()) if new.exists() != old.exists() else -1)


def taken(garden: Garden, user_id: str) -> Effects:
    text = (garden.home.path / PROFILE.format(user=user_id)).read_bytes()
    events = [each for each in events_of(garden, user_id, JOURNAL) if each.statement.type == "snapshot"]
    copies = [
        garden.home.path / str((payload_json(each.statement.edit) or {})["historyPath"]) for each in events
    ]
    return Effects(len(events), sum(copy.exists() and copy.read_bytes() == text for copy in copies))


def logged(garden: Garden, user_id: str) -> Effects:
    said = [each for each in events_of(garden, user_id, JOURNAL) if each.statement.rationale == SAID]
    return Effects(len(said), len(said))


def settled(garden: Garden, user_id: str) -> Effects:
    """Count a stalled change as settled, in the events and on the disk."""
    return saying(STALLED, PROFILE)(garden, user_id)


_PATCHED = saying(SAID, PROFILE)

OPERATIONS: Mapping[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("patch", PROFILE, a_profile, patch, _PATCHED),
        Operation("append", NOTES, notes, append, saying(SAID, NOTES)),
        Operation("tried-patch", PROFILE, a_profile, patch, _PATCHED, tries_plan=True),
        Operation("tried-append", NOTES, notes, append, saying(SAID, NOTES), tries_plan=True),
        Operation("plant", PROFILE, nothing, plant, saying(f"# {SAID}", PROFILE)),
        Operation("move", MOVED, notes, move, moved),
        Operation("snapshot", PROFILE, a_profile, snapshot, taken, spare_copies=True),
        Operation("log", PROFILE, a_profile, log, logged),
        Operation("adopt", PROFILE, an_outside_edit, patch, _PATCHED, saying(BY_HAND, PROFILE)),
        Operation("next-after-stall", PROFILE, stalled_after, patch, _PATCHED, settled),
        Operation("next-no-copy", PROFILE, stalled_without_copy, patch, _PATCHED, settled),
        Operation("next-before-write", PROFILE, stalled_before, patch, _PATCHED, settled, also_times=0),
        Operation("reconcile-after", PROFILE, stalled_after, settle, settled),
        Operation("reconcile-no-copy", PROFILE, stalled_without_copy, settle, settled),
        Operation("reconcile-before", PROFILE, stalled_before, settle, settled, times=0),
        Operation("reconcile-adopt", PROFILE, an_outside_edit, settle, saying(BY_HAND, PROFILE)),
    )
}
