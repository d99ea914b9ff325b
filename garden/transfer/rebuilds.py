"""Rebuilds gardens as they stood at a time, in a new folder, from one source alone.

From the events: the version of each document that was current then, exactly. From the history: the copy that
the first change after that time left, else the file as it is now. Not every change leaves a copy, so such a
version may be a later one; the time when its file was written tells.

    FOLDER/{userId}/...                 the documents, as below `users/`; `garden import` accepts the folder
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import takewhile
from operator import attrgetter
from pathlib import Path
from typing import ClassVar, Literal

from garden.events.versions import Version
from garden.files.errors import translate_os_errors
from garden.files.garden_files import FileText, GardenFiles
from garden.files.paths import GardenPath
from garden.files.plain_files import time_of
from garden.grammar.canonical import encoded
from garden.grammar.errors import GardenError
from garden.home.folder import Home
from garden.transfer.exports import TargetError, check_target, make_target, put_file
from garden.writing.services import Services

_TIME = "%Y-%m-%dT%H%M%S.%fZ"
# Later than every event, even of a host whose clock is ahead.
_END = datetime(9999, 1, 1, tzinfo=UTC)
_by_text = attrgetter("text")
# A file gets the time of a clock that ticks: at 100 Hz where it is slow.
_FILE_TICK = timedelta(milliseconds=10)


class GardenUnknownError(GardenError):
    """There are neither files nor copies of this user."""

    code: ClassVar[str] = "not_found"


@dataclass(frozen=True)
class PastDocument:
    """A document at a time; `read` gives its text, or None, and a note on what is uncertain."""

    path: GardenPath
    read: Callable[[], tuple[bytes | None, str | None]]
    version: int | None = None


@dataclass(frozen=True)
class RebuiltDocument:
    """What became of one document."""

    file: str
    outcome: Literal["rebuilt", "uncertain", "left out", "refused"]
    version: int | None = None
    message: str | None = None


def make_empty_target(target: Path, home: Home) -> None:
    """Make the folder, or take one that is empty."""
    check_target(target, home)
    with translate_os_errors():
        if target.exists() and any(target.iterdir()):
            raise TargetError("The folder is not empty.", hint="Name a new folder.")
    make_target(target)


def rebuild_document(target: Path, document: PastDocument) -> RebuiltDocument:
    """Put a document into the folder; an error becomes a refusal."""
    name = document.path.text.removeprefix("users/")
    try:
        text, note = document.read()
        if text is None:
            return RebuiltDocument(name, "left out", message=note)
        put_file(target, name, text)
    except GardenError as error:
        return RebuiltDocument(name, "refused", message=error.message)
    return RebuiltDocument(name, "uncertain" if note else "rebuilt", document.version, note)


def documents_from_events(services: Services, user: str, at: datetime | None) -> list[PastDocument]:
    """Each document of the account as it stood."""

    def past(version: Version) -> PastDocument:
        def read() -> tuple[bytes, None]:
            return encoded(services.reader.text_at(user, version.path, version.number)), None

        return PastDocument(GardenPath(version.path), read, version.number)

    return [past(each) for each in services.versions.garden_at(user, f"users/{user}", at or _END)]


@contextmanager
def past_in_history(home: Home, user: str | None, at: datetime | None) -> Iterator[list[PastDocument]]:
    """Each document of one user, or of every user with a garden or a history, from files and copies alone."""
    with GardenFiles(home.path) as files:
        users = sorted({path.user_id for root in ("users", "history") for path in files.users(root)})
        if user is not None and user not in users:
            raise GardenUnknownError(
                f"There is no garden of {user!r} here.", hint="Without --user, every garden is rebuilt."
            )
        chosen = users if user is None else [user]
        yield [each for name in chosen for each in documents_from_history(files, name, at)]


def documents_from_history(files: GardenFiles, user: str, at: datetime | None) -> list[PastDocument]:
    """Each document with a file or copies as it stood, as far as those tell."""
    found = {path: list[GardenPath]() for path in files.documents(GardenPath(f"users/{user}"))}
    for copy in files.documents(GardenPath(f"history/{user}")):
        found.setdefault(copy.document, []).append(copy)
    ordered = sorted(found, key=_by_text)
    return [
        PastDocument(path, partial(_from_history, files, path, sorted(found[path], key=_by_text), at))
        for path in ordered
    ]


def _from_history(
    files: GardenFiles, path: GardenPath, copies: Sequence[GardenPath], at: datetime | None
) -> tuple[bytes | None, str | None]:
    # The names of copies begin with their times.
    time = at and at.astimezone(UTC).strftime(_TIME)
    later = [copy for copy in copies if time and copy.name[: len(time)] > time]
    sources = [*later, *([path] if files.exists(path) else [])]
    if not sources:
        return None, f"It has no file; its last copy is {copies[-1].name}."
    first = files.read(sources[0])
    same = takewhile(lambda file: file.hash == first.hash, map(files.read, sources))
    text, written = first.text.encode(), f"{_written_at(first):%Y-%m-%d %H:%M:%SZ}"
    # Equal versions one after another are one version, and it stood since the first was written.
    if at is None or any(_written_at(each) + _FILE_TICK <= at for each in same):
        return text, None
    if not (path.free or path.kind == "notes") and len(later) == len(copies):
        return None, f"Nothing is known of it from before {written}."
    return text, f"The version of then left no copy; this one was written at {written}."


def _written_at(file: FileText) -> datetime:
    return time_of(file.stamp.written_ns)
