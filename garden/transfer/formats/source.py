"""What an export is read from: a zip, a folder or one file; within limits, and never written by its names."""

import json
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from garden.files.errors import ForeignFileError, translate_os_errors
from garden.files.plain_files import SIZE_MAX_BYTES, check_content
from garden.grammar.errors import GardenError

JSON_MAX_BYTES = 256 * 1024 * 1024
FILES_MAX = 100_000
UNPACKED_MAX_BYTES = 100 * 1024 * 1024
RATIO_MAX = 100
_COMPRESSIONS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


class ForeignExportError(GardenError):
    """The file is no export of the format named, is damaged, or breaks a limit."""

    code: ClassVar[str] = "invalid_input"


class ExportMissingError(GardenError):
    """There is no such file or folder."""

    code: ClassVar[str] = "not_found"


@dataclass(frozen=True)
class Source:
    """The files of an export by their names, each read within a limit."""

    files: Mapping[str, Callable[[int], bytes]]

    def named(self, *names: str) -> list[str]:
        """The files with one of these names, in any folder."""
        return [name for name in self.files if name.rpartition("/")[2] in names]

    def note(self, name: str) -> str:
        """Read a text file, which may be as large as a document."""
        return check_content(self.files[name](SIZE_MAX_BYTES + 1))

    def json(self, name: str) -> Any:
        """Read a JSON file."""
        data = self.files[name](JSON_MAX_BYTES + 1)
        if len(data) > JSON_MAX_BYTES:
            raise ForeignExportError(
                f"{printable(name)} is larger than {JSON_MAX_BYTES >> 20} MB.",
                hint="Export a shorter time, or split the file.",
            )
        try:
            return json.loads(data.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            raise ForeignExportError(
                f"{printable(name)} is no JSON in UTF-8, or too deeply nested.", hint="Export it again."
            ) from None


def printable(name: str) -> str:
    """A name from an export, made printable."""
    return "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in name)


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Open an export; hidden files and folders in it are left out."""
    if not path.exists():
        raise ExportMissingError(f"There is no file or folder {path}.", hint="Name the export.")
    if path.is_dir():
        yield Source(_checked({name: partial(read_plain, file) for name, file in _files_below(path)}))
        return
    if not path.is_file():
        # A look at a pipe or a device may never end.
        raise ForeignFileError("it is not a regular file")
    try:
        if not zipfile.is_zipfile(path):
            yield Source({path.name: partial(read_plain, path)})
            return
        with ExitStack() as stack:
            with _one_error_for_damage():
                archive = stack.enter_context(zipfile.ZipFile(path))
                files = dict(_members(archive, path.stat().st_size))
            yield Source(_checked(files))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ForeignExportError(
            "The zip is damaged or cut off, or of a form that is not supported.", hint="Export it again."
        ) from error


def files_below(entry: "os.DirEntry[str]") -> Iterator[Path]:
    """Every file in a folder but hidden ones; a link is listed as a file, and refused when it is read."""
    waiting = [entry]
    while waiting:
        entry = waiting.pop()
        if not entry.is_dir(follow_symlinks=False):
            yield Path(entry.path)
            continue
        with translate_os_errors(), os.scandir(entry) as below:
            waiting += [each for each in below if not each.name.startswith(".")]


def read_plain(file: Path, most: int) -> bytes:
    """Read so many bytes of a plain file; a link, a pipe or a device is refused."""
    with translate_os_errors():
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as opened:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise ForeignFileError("it is not a regular file")
            return opened.read(most)


def _files_below(folder: Path) -> Iterator[tuple[str, Path]]:
    with os.scandir(folder) as entries:
        visible = [entry for entry in entries if not entry.name.startswith(".")]
    for file in (file for entry in visible for file in files_below(entry)):
        yield os.fsencode(file.relative_to(folder)).decode(errors="backslashreplace"), file


def _checked(files: dict[str, Callable[[int], bytes]]) -> dict[str, Callable[[int], bytes]]:
    if len(files) > FILES_MAX:
        raise ForeignExportError(
            f"The export has more than {FILES_MAX:,} files.", hint="Import a part of it at a time."
        )
    return dict(sorted(files.items()))


def _members(archive: zipfile.ZipFile, packed: int) -> Iterator[tuple[str, Callable[[int], bytes]]]:
    members = [each for each in archive.infolist() if not each.is_dir()]
    # A member never gives more bytes than it declares.
    if sum(each.file_size for each in members) > max(UNPACKED_MAX_BYTES, packed * RATIO_MAX):
        raise ForeignExportError(
            f"The zip unpacks to more than {RATIO_MAX} times its size.",
            hint="Unpack it and import the folder.",
        )
    if len({each.filename for each in members}) < len(members):
        raise ForeignExportError("The zip holds two files of one name.", hint="Export it again.")
    if any(each.flag_bits & 1 or each.compress_type not in _COMPRESSIONS for each in members):
        raise ForeignExportError(
            "The zip is encrypted, or packed in a way that is not supported.",
            hint="Unpack it and import the folder.",
        )
    for each in members:
        parts = each.filename.split("/")
        if "__MACOSX" not in parts and not any(part[:1] == "." and part.strip(".") for part in parts):
            yield each.filename, partial(_read_member, archive, each)


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    with _one_error_for_damage(), archive.open(member) as opened:
        return opened.read(most)


@contextmanager
def _one_error_for_damage() -> Iterator[None]:
    """The library has many errors for a damaged zip, by the field that is damaged."""
    try:
        yield
    except (OSError, ValueError, IndexError, struct.error) as error:
        raise zipfile.BadZipFile(str(error)) from error
