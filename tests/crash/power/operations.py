"""The operations that meet power failures, and how to see whether each happened."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from garden.application import Garden
from garden.events.payloads import payload_json
from garden.events.reader import Query
from garden.grammar.canonical import raw_hash
from tests.crash.power.processes import Asked
from tests.support.planted import ok
from tests.support.promises import inserted_by, told

CRITIC = "parts/critic/profile.md"
NOTES = "notes.md"
MOVED = "parts/critic/notes.md"
ELSEWHERE = "parts/child/notes.md"

Seen = Callable[[Garden, str], int]


class BrokenError(AssertionError):
    """Something that was promised does not hold."""


@dataclass(frozen=True)
class Request:
    """One request, and a count of its effects; `answers_again` if a resend is answered as a replay."""

    asked: Callable[[str], Asked]
    seen: Seen
    answers_again: bool = True


@dataclass(frozen=True)
class Operation:
    """Requests sent in order to a garden in which `before` was done.

    `next_comes` is a request of another caller that meets the leftovers. `earlier` are words, by document,
    that must survive in every case.
    """

    name: str
    before: Callable[[str], Sequence[Asked]]
    requests: tuple[Request, ...]
    next_comes: Callable[[str], Asked]
    earlier: tuple[tuple[str, str], ...] = ()
    spare_copies: bool = False
    unable: tuple[str, ...] = ()


def at(user: str, path: str) -> str:
    return f"users/{user}/{path}"


def planting(user: str, path: str) -> Asked:
    return "md.plant", {"path": at(user, path), "idempotencyKey": f"plant {path}"}


def patching(user: str, path: str, anchor: str, line: str) -> Asked:
    return "md.patch_section", {
        "path": at(user, path), "sectionAnchor": anchor, "change": {"append": f"- {line}"},
        "idempotencyKey": f"{path} {line}",
    }  # fmt: skip


def appending(user: str, path: str, text: str) -> Asked:
    return "fs.append", {"path": at(user, path), "text": text, "idempotencyKey": f"{path} {text}"}


def says(path: str, words: str) -> Seen:
    """Count words in a document, which must be as often in what its account tells was done."""

    def seen(garden: Garden, user: str) -> int:
        file = garden.home.path / at(user, path)
        count = file.read_text().count(words) if file.exists() else 0
        events = [
            event for event in told(garden, at(user, path), user).committed if words in inserted_by(event)
        ]
        if len(events) != count:
            raise BrokenError(f"{words!r} is there {count} times and told of {len(events)} times")
        return count

    return seen


def says_somewhere(paths: Sequence[str], words: str) -> Seen:
    """Count words in a document that may have moved from one of these paths to another."""

    def seen(garden: Garden, user: str) -> int:
        files = [garden.home.path / at(user, path) for path in paths]
        return sum(file.read_text().count(words) for file in files if file.exists())

    return seen


def stands(path: str) -> Seen:
    """Whether a document was begun, and whole."""

    def seen(garden: Garden, user: str) -> int:
        return int((garden.home.path / at(user, path)).exists())

    return seen


def moved(old: str, new: str, words: str) -> Seen:
    """Whether a document is at its new path: it must be at one of the two, with its words."""

    def seen(garden: Garden, user: str) -> int:
        there = [(garden.home.path / at(user, path)) for path in (old, new)]
        if [file.exists() for file in there].count(True) != 1:
            raise BrokenError(f"of the two paths there are {[str(file) for file in there if file.exists()]}")
        if words not in next(file for file in there if file.exists()).read_text():
            raise BrokenError("the document that was moved has lost its text")
        return int(there[1].exists())

    return seen


def copied(path: str) -> Seen:
    """Count the snapshots that the account tells of; each must be there, and be what the document was."""

    def seen(garden: Garden, user: str) -> int:
        events = garden.services.reader.query(user, Query(path=at(user, path), op="snapshot_history")).events
        for event in events:
            copy = garden.home.path / (payload_json(event.statement.edit) or {})["historyPath"]
            if not copy.exists():
                raise BrokenError("a reported snapshot is missing")
            if raw_hash(copy.read_bytes()) != (payload_json(event.statement.edit) or {})["rawHash"]:
                raise BrokenError("a snapshot is not what the document was")
        return len(events)

    return seen


def folder(path: str) -> Seen:
    def seen(garden: Garden, user: str) -> int:
        return int((garden.home.path / at(user, path)).is_dir())

    return seen


def _profile(user: str) -> list[Asked]:
    return [planting(user, CRITIC), patching(user, CRITIC, "needs v1", "there before")]


def _fresh_profile(user: str) -> list[Asked]:
    return [planting(user, CRITIC)]


def _notes(user: str) -> list[Asked]:
    return [planting(user, NOTES), appending(user, NOTES, "there before")]


def _notes_and_child(user: str) -> list[Asked]:
    return [*_notes(user), planting(user, "parts/child/profile.md")]


def _notes_of_old(user: str) -> list[Asked]:
    """Notes with a history, so that the folder of it is there."""
    replaced = {
        "path": at(user, NOTES), "sectionAnchor": "summaries v1", "change": {"replace": "- there before"},
    }  # fmt: skip
    return [*_notes(user), ("md.patch_section", replaced)]


def _nothing(_: str) -> list[Asked]:
    return []


def _patch(number: int, path: str = CRITIC) -> Request:
    words = f"said {number};"
    return Request(lambda user: patching(user, path, "concerns v1", words), says(path, words))


def _append(number: int, path: str = NOTES) -> Request:
    words = f"said {number};"
    return Request(lambda user: appending(user, path, words), says(path, words))


def _move(new: str) -> Request:
    return Request(
        lambda user: (
            "fs.move", {"path": at(user, NOTES), "newPath": at(user, new), "idempotencyKey": "move"}
        ),
        moved(NOTES, new, "there before"),
    )  # fmt: skip


_APPEND_TO_WHAT_MOVES = Request(
    lambda user: appending(user, NOTES, "said 1;"), says_somewhere((NOTES, ELSEWHERE), "said 1;")
)
_PLANT = Request(lambda user: planting(user, CRITIC), stands(CRITIC))
_REPLACE = Request(
    lambda user: (
        "md.patch_section",
        {
            "path": at(user, NOTES), "sectionAnchor": "inbox v1", "change": {"replace": "- said 1;"},
            "idempotencyKey": "replace",
        },
    ),
    says(NOTES, "said 1;"),
)  # fmt: skip
_SNAPSHOT = Request(
    lambda user: ("md.snapshot_history", {"path": at(user, CRITIC), "idempotencyKey": "snapshot"}),
    copied(CRITIC),
)
_FOLDER = Request(
    lambda user: ("fs.ensure_dir", {"path": at(user, "parts/critic"), "idempotencyKey": "folder"}),
    folder("parts/critic"),
    answers_again=False,
)


def _next_patch(user: str) -> Asked:
    return patching(user, CRITIC, "questions v1", "the next")


def _next_append(user: str) -> Asked:
    return appending(user, NOTES, "the next")


def _next_plant(user: str) -> Asked:
    return planting(user, "parts/critic/notes.md")


def _look_at(path: str) -> Callable[[str], Asked]:
    """Send a refused request to a path; it settles what was left there."""
    return lambda user: ("fs.append", {"path": at(user, path), "text": "-", "ifMatch": "none"})


_IN_PROFILE = ((CRITIC, "there before"),)
_IN_NOTES = ((NOTES, "there before"),)

OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("patch", _profile, (_patch(1),), _next_patch, _IN_PROFILE),
        Operation("first copy", _fresh_profile, (_patch(1),), _next_patch),
        Operation("replace in notes", _notes_of_old, (_REPLACE,), _next_append),
        Operation("append", _notes, (_append(1),), _next_append, _IN_NOTES),
        Operation("plant", _nothing, (_PLANT,), _next_plant),
        Operation("move", _notes, (_move(ELSEWHERE),), _look_at(NOTES)),
        Operation("move to a folder that is there", _notes_and_child, (_move(ELSEWHERE),),
                  _look_at(ELSEWHERE)),
        Operation("snapshot", _fresh_profile, (_SNAPSHOT,), _next_patch, spare_copies=True),
        Operation("make folders", _nothing, (_FOLDER,), _next_plant),
        Operation("patch without links", _profile, (_patch(1),), _next_patch, _IN_PROFILE, unable=("link",)),
        Operation("plant without rename_new", _nothing, (_PLANT,), _next_plant, unable=("rename_new",)),
        Operation("move without rename_new", _notes, (_move(ELSEWHERE),), _look_at(NOTES),
                  unable=("rename_new",)),
        Operation("patch twice", _profile, (_patch(1), _patch(2)), _next_patch, _IN_PROFILE),
        Operation("plant, then patch", _nothing, (_PLANT, _patch(1)), _next_plant),
        Operation("patch, then append elsewhere", lambda user: [*_profile(user), *_notes(user)],
             (_patch(1), _append(2)), _next_append, (*_IN_PROFILE, *_IN_NOTES)),
        Operation("append, then move", _notes, (_APPEND_TO_WHAT_MOVES, _move(ELSEWHERE)),
                  _look_at(ELSEWHERE)),
        Operation("patch, then snapshot", _profile, (_patch(1), _SNAPSHOT), _next_patch, _IN_PROFILE,
             spare_copies=True),
    )
}  # fmt: skip


def prepare(garden: Garden, user: str, operation: Operation) -> None:
    session = garden.session(user, "companion", role="maintainer")
    for tool, args in operation.before(user):
        ok(session.call(tool, args))
