"""Exports gardens as a tree that `garden import` accepts, with their history and events beside it.

    FOLDER/{userId}/...                 the documents, as below `users/`
    FOLDER/.history/{userId}/...        copies of earlier versions, as below `history/`
    FOLDER/.events/{userId}.jsonl       the events, one a line, oldest first

An import skips names that begin with a dot. The same gardens give the same bytes. Nothing is overwritten: a
file with the same content is skipped, so an interrupted export continues where it stopped. A finished export
survives a power failure.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, ClassVar
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from garden.events.reader import EventReader
from garden.files.errors import ForeignFileError, translate_os_errors
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath, Place
from garden.grammar.errors import GardenError
from garden.home.folder import Home
from garden.home.platform_features import flush_drive
from garden.home.state_files import sync_folder
from garden.transfer.files import TransferOutcome, TransferredFile, new_file, refused_file

HISTORY = ".history"
EVENTS = ".events"
LEFT_OUT = "LEFT-OUT.txt"


class TargetError(GardenError):
    """The folder can't take an export."""

    code: ClassVar[str] = "invalid_input"


class FileDiffersError(GardenError):
    """A different file already exists at the target."""

    code: ClassVar[str] = "already_exists"


def check_target(target: Path, home: Home) -> None:
    """Refuse a target inside the home, or one that is not a folder."""
    place = target.resolve()
    if place == home.path.resolve() or home.path.resolve() in place.parents:
        raise TargetError(
            "An export can't go into the garden home itself.", hint="Name a folder outside the home."
        )
    if target.exists() and not target.is_dir():
        raise TargetError("The target is a file.", hint="Name a folder, existing or new.")


def make_target(target: Path) -> None:
    """Create the folder and make it durable."""
    made = [folder for folder in (target, *target.parents) if not folder.exists()]
    try:
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in made:
            sync_folder(folder.parent)
    except OSError as error:
        raise TargetError(
            f"The folder can't be created: {error.strerror}.", hint="Name one where you may write."
        ) from None


def documents_of(files: GardenFiles, users: Sequence[str], *, history: bool) -> list[GardenPath]:
    """Documents of these users, and with `history` also the copies in their history."""
    roots = [f"{root}/{user}" for user in users for root in ("users", *(("history",) if history else ()))]
    return [path for root in roots for path in files.live_documents(GardenPath(root))]


def export_document(files: GardenFiles, target: Path, path: GardenPath) -> TransferredFile:
    """Export one document or copy; an error becomes a refusal."""
    name = _name_of(path)
    try:
        return TransferredFile(name, put_file(target, name, files.read(path).text.encode()))
    except GardenError as error:
        return refused_file(name, error)


def export_events(reader: EventReader, target: Path, user: str) -> TransferredFile:
    """Export one user's events; an error becomes a refusal."""
    name = f"{EVENTS}/{user}.jsonl"
    try:
        with translate_os_errors():
            return TransferredFile(name, put_file(target, name, b"".join(_event_lines(reader, user))))
    except GardenError as error:
        return refused_file(name, error)


def write_zip(files: GardenFiles, target: IO[bytes], user: str, *, history: bool) -> None:
    """Write the documents of a user as a zip of the same tree; it names those that can't be read."""
    left_out = []
    with ZipFile(target, "w") as opened:
        for path in documents_of(files, [user], history=history):
            try:
                text = files.read(path).text
            except GardenError as error:
                left_out.append(f"{path}: {error.message}\n")
                continue
            opened.writestr(ZipInfo(_name_of(path)), text, ZIP_DEFLATED)
        if left_out:
            opened.writestr(ZipInfo(LEFT_OUT), "".join(left_out), ZIP_DEFLATED)


def make_durable(target: Path, done: Iterable[TransferredFile]) -> None:
    """Sync the folders of every exported file; the files are synced already."""
    names = [Path(each.file) for each in done if each.outcome != "refused"]
    with translate_os_errors():
        for folder in {target / parent for name in names for parent in name.parents}:
            sync_folder(folder)


def _name_of(path: GardenPath) -> str:
    below = path.text.partition("/")[2]
    return f"{HISTORY}/{below}" if path.place is Place.HISTORY_COPY else below


def _event_lines(reader: EventReader, user: str) -> Iterator[bytes]:
    with reader.snapshot(user) as snapshot:
        for view in snapshot.views():
            yield json.dumps(view, ensure_ascii=False).encode() + b"\n"


def put_file(target: Path, name: str, content: bytes) -> TransferOutcome:
    """Put a file below the target; one that is there already must hold the same."""
    file = target / name
    with translate_os_errors():
        _make_folders(target, file.parent)
        if os.path.lexists(file):
            return _check_same(file, content)
        try:
            with new_file(file) as opened:
                opened.write(content)
        except FileExistsError:
            return _check_same(file, content)
    return "exported"


def _make_folders(target: Path, folder: Path) -> None:
    """Create the folders below the target; refuse a link, which could lead anywhere, even into the home."""
    for name in folder.relative_to(target).parts:
        target /= name
        if target.is_symlink():
            raise ForeignFileError("a link is in the place of a folder")
        target.mkdir(mode=0o700, exist_ok=True)


def _check_same(file: Path, content: bytes) -> TransferOutcome:
    if file.is_symlink() or not file.is_file() or file.read_bytes() != content:
        raise FileDiffersError(
            "A different file already exists at this path.", hint="Move it away, or export to another folder."
        )
    # An interrupted export may have left the file before it was synced.
    with file.open("rb") as opened:
        flush_drive(opened.fileno())
        os.fsync(opened.fileno())
    return "unchanged"
