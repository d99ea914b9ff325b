"""Importing: a tree of gardens from elsewhere, laid out like `users/`, each file through the write path.

What stands here already and is the same is passed over, so an import that was interrupted is taken up again
by starting it once more. What stands here and is different is never overwritten.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from garden.events.records import Caller
from garden.files.errors import (
    FileExistsAlreadyError,
    FileMissingError,
    ForeignFileError,
    translate_os_errors,
)
from garden.files.paths import GardenPath, parse_path
from garden.files.plain_files import SIZE_MAX_BYTES, check_content, raw_hash
from garden.grammar.edits import WriteFile
from garden.grammar.errors import GardenError
from garden.writing.planner import Intent
from garden.writing.services import Services

Outcome = Literal["imported", "unchanged", "refused"]
_OP = "import"


class SourceError(GardenError):
    """There is no folder of gardens to import from."""

    code: ClassVar[str] = "not_found"


@dataclass(frozen=True)
class Imported:
    """What became of one file of the tree."""

    file: str
    outcome: Outcome
    code: str | None = None
    message: str | None = None
    hint: str | None = None


def files_in(source: Path) -> list[Path]:
    """Find every file in the users' folders, in order; hidden ones and those beside them are left out."""
    if not source.is_dir():
        raise SourceError(
            "There is no folder to import from at this place.",
            hint="Name a folder that holds one folder for each user, as users/ does.",
        )
    with os.scandir(source) as entries:
        users = [entry for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
    return sorted(file for user in users for file in _files(user))


def _files(entry: os.DirEntry[str]) -> Iterator[Path]:
    # A link counts as a file, and is refused as one.
    if not entry.is_dir(follow_symlinks=False):
        yield Path(entry.path)
        return
    with os.scandir(entry) as below:
        for each in below:
            if not each.name.startswith("."):
                yield from _files(each)


def import_file(services: Services, source: Path, file: Path, actor: str) -> Imported:
    """Bring one file in, or say why not."""
    # A name that is no text becomes one that can be shown, and that is no path of a document either.
    name = os.fsencode(file.relative_to(source)).decode(errors="backslashreplace")
    try:
        path = parse_path(f"users/{name}", owner=None)
        return Imported(name, _imported(services, path, _text_of(file), actor))
    except GardenError as error:
        return Imported(name, "refused", error.code, error.message, error.hint)


def _imported(services: Services, path: GardenPath, text: str, actor: str) -> Outcome:
    caller = Caller(path.user_id, actor, "maintainer")
    try:
        if services.files.read(path).hash == raw_hash(text.encode()):
            # An import that was killed may have left the file, and its change without an end.
            known = services.write_path.settle_and_adopt(caller, path)
            if known.error is not None:
                raise known.error
            return "unchanged"
    except FileMissingError:
        pass
    else:
        raise FileExistsAlreadyError
    intent = Intent(
        path=path,
        edit=WriteFile(text),
        tool="garden.import",
        op=_OP,
        rationale="The document was imported.",
        override_rationale="It was imported as it was.",
        only_new=True,
    )
    services.write_path.write(caller, intent, None, lambda plan: {"newHash": plan.after.document.hash})
    return "imported"


def _text_of(file: Path) -> str:
    with translate_os_errors():
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as opened:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise ForeignFileError("something stands there that is no plain file")
            return check_content(opened.read(SIZE_MAX_BYTES + 1))
