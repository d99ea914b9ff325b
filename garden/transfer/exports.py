"""Exporting: gardens as a tree that `garden import` takes, with their history and their events beside it.

    FOLDER/{userId}/...                 the documents, as below `users/`
    FOLDER/.history/{userId}/...        copies of earlier versions, as below `history/`
    FOLDER/.events/{userId}.jsonl       the account, one event a line, oldest first

What an import passes over begins with a dot. The same gardens give the same bytes. Nothing is overwritten:
what is there and the same is passed over, so that an export that was interrupted goes on where it was. Once
it is done, a power failure takes nothing of it away.
"""

import json
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal

from garden.events.reader import EventReader
from garden.events.rows import event_of
from garden.events.views import event_views
from garden.files.errors import ForeignFileError, translate_os_errors
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath, Place
from garden.grammar.errors import GardenError
from garden.home.folder import Home
from garden.home.state_files import sync_folder

Outcome = Literal["exported", "unchanged", "refused"]
HISTORY = ".history"
EVENTS = ".events"
_EVENTS_AT_ONCE = 200


class TargetError(GardenError):
    """Nothing can be exported to that folder."""

    code: ClassVar[str] = "invalid_input"


class FileDiffersError(GardenError):
    """Something else stands where a file is to be exported to."""

    code: ClassVar[str] = "already_exists"


@dataclass(frozen=True)
class Exported:
    """What became of one file of the tree."""

    file: str
    outcome: Outcome
    code: str | None = None
    message: str | None = None
    hint: str | None = None


def check_target(target: Path, home: Home) -> None:
    """Refuse a folder in the home itself, and what is no folder."""
    place = target.resolve()
    if place == home.path.resolve() or home.path.resolve() in place.parents:
        raise TargetError(
            "An export does not go into the garden home itself.", hint="Name a folder outside the home."
        )
    if target.exists() and not target.is_dir():
        raise TargetError("There is a file at this place.", hint="Name a folder, or one that is to be made.")


def make_target(target: Path) -> None:
    """Make the folder, unless it is there."""
    made = [folder for folder in (target, *target.parents) if not folder.exists()]
    try:
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in made:
            sync_folder(folder.parent)
    except OSError as error:
        raise TargetError(
            f"The folder can't be made: {error.strerror}.", hint="Name one where you may write."
        ) from None


def documents_of(files: GardenFiles, users: Sequence[str], *, history: bool) -> list[GardenPath]:
    """List what is to be exported: the documents of these users, and the copies in their history."""
    roots = [f"{root}/{user}" for user in users for root in ("users", *(("history",) if history else ()))]
    return [path for root in roots for path in files.documents(GardenPath(root))]


def export_document(files: GardenFiles, target: Path, path: GardenPath) -> Exported:
    """Put one document, or one copy, into the tree, or say why not."""
    below = path.text.partition("/")[2]
    name = f"{HISTORY}/{below}" if path.place is Place.HISTORY_COPY else below
    try:
        return Exported(name, _put(target, name, files.read(path).text.encode()))
    except GardenError as error:
        return _refused(name, error)


def export_events(reader: EventReader, target: Path, user: str) -> Exported:
    """Put one user's account into the tree, or say why not."""
    name = f"{EVENTS}/{user}.jsonl"
    try:
        with translate_os_errors():
            return Exported(name, _put(target, name, b"".join(_lines(reader, user))))
    except GardenError as error:
        return _refused(name, error)


def make_durable(target: Path, done: Iterable[Exported]) -> None:
    """Bring the folders of all that is in the tree now to the disk, as the files were before."""
    names = [Path(each.file) for each in done if each.outcome != "refused"]
    with translate_os_errors():
        for folder in {target / parent for name in names for parent in name.parents}:
            sync_folder(folder)


def _lines(reader: EventReader, user: str) -> Iterator[bytes]:
    with reader.snapshot(user) as snapshot:
        streams = [row["path"] for row in snapshot.fetch("streams", {})]
        # Ids sort by time, and within a stream as its sequence does.
        rows = merge(
            *(snapshot.rows("chain", {"stream": stream}) for stream in streams),
            key=lambda row: row["event_id"],
        )
        while events := [event_of(row) for row in islice(rows, _EVENTS_AT_ONCE)]:
            for view in event_views(reader, user, events):
                shown = view.model_dump(mode="json", by_alias=True)
                yield json.dumps(shown, ensure_ascii=False).encode() + b"\n"


def _put(target: Path, name: str, content: bytes) -> Outcome:
    """Write a new file that only its owner may read; it appears whole or not at all."""
    file = target / name
    with translate_os_errors():
        _make_folders(target, file.parent)
        if os.path.lexists(file):
            return _same(file, content)
        fresh = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
        try:
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(handle)
            os.link(fresh, file)
        except FileExistsError:
            return _same(file, content)
        finally:
            with suppress(FileNotFoundError):
                fresh.unlink()
    return "exported"


def _make_folders(target: Path, folder: Path) -> None:
    """Make the folders below the target; a link among them could lead anywhere, even into the home."""
    for name in folder.relative_to(target).parts:
        target /= name
        if target.is_symlink():
            raise ForeignFileError("a link stands there in the place of a folder")
        target.mkdir(mode=0o700, exist_ok=True)


def _same(file: Path, content: bytes) -> Outcome:
    if file.is_symlink() or not file.is_file() or file.read_bytes() != content:
        raise FileDiffersError(
            "Something else stands at this path already.", hint="Move it away, or export to another folder."
        )
    # An export that was cut off may have left it there before the disk had it.
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
    return "unchanged"


def _refused(name: str, error: GardenError) -> Exported:
    return Exported(name, "refused", error.code, error.message, error.hint)
