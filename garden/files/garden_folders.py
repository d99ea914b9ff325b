"""The folders below the garden home: opened, made, confirmed on the disk, and listed.

The home's folder is opened once. Everything below is reached from that handle without following links, and
the type, size and links of a file are read from the open handle, never from its name.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from stat import S_ISREG
from types import TracebackType
from typing import Self

from garden.files.beneath import LOOK, READ_FOLDER, Handle, choose_resolver, close_quietly
from garden.files.declared_paths import EVERY_PATH, DeclaredPaths
from garden.files.errors import FileError, FileMissingError, ForeignFileError, translate_os_errors
from garden.files.paths import GardenPath, PathNotAllowedError, Place
from garden.files.plain_files import (
    FileStamp,
    Identity,
    check_type,
    identity_of,
    names_in,
    open_in,
    read_stable,
    remove_in,
    stamp_of,
    status_in,
    stray_pattern,
    sync,
    time_of,
)

OnUnlisted = Callable[[GardenPath, FileError], None]
"""Called with each folder that can't be listed, so that the search goes on with the others."""

_ANY_NAME = re.compile(".*", re.DOTALL)
_NOT_HIDDEN = re.compile("[^.].*", re.DOTALL)
_CONFIRMED_MAX = 10_000
# How often the names of a file are counted, while writers may move them.
_COUNTS_MAX = 5
# The times of one file system are this exact at least, where it keeps them in nanoseconds.
CLOCK_STEP_NS = 20_000_000


class GardenFolders:
    """The folders of one open garden home; any number of threads may use it.

    No free-form path is made or listed that is not `declared`. Without declarations, as for programs that
    only read a home's files, every one is.
    """

    def __init__(
        self, home: Path, *, step_by_step: bool = False, declared: DeclaredPaths | None = None
    ) -> None:
        self.declared = declared or EVERY_PATH
        with translate_os_errors():
            self._home = os.open(home, READ_FOLDER | os.O_CLOEXEC)
        self._owner = os.fstat(self._home).st_uid
        self._resolve = choose_resolver(self._home, step_by_step=step_by_step)
        # Folders whose names are on the disk, each with the stamp that its parent had then.
        self._confirmed: dict[str, FileStamp] = {}

    def close(self) -> None:
        """Close the home's handle; every later call fails."""
        if self._home >= 0:
            os.close(self._home)
            self._home = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self, way: str, flags: int) -> Handle:
        """Open a file or folder below the home."""
        return Handle(self._resolve(self._home, way, flags))

    @contextmanager
    def open_folder(self, path: GardenPath) -> Iterator[int]:
        """Open a folder, and translate the errors of the block."""
        with translate_os_errors(), self.open(path.text, READ_FOLDER) as handle:
            yield handle

    def open_ensured(self, path: GardenPath) -> Handle:
        """Open a folder, and make it first if it is missing; its name is on the disk."""
        self.declared.check(path)
        try:
            handle = self.open(path.text, READ_FOLDER)
        except FileNotFoundError:
            self._make_folders(path.text)
            handle = self.open(path.text, READ_FOLDER)
        try:
            self.confirm_way(path.text, handle)
        except BaseException:
            close_quietly(handle)
            raise
        return handle

    def list_folder(self, path: GardenPath) -> tuple[GardenPath, ...]:
        """List the documents, copies and folders in a folder, sorted by name.

        A person may keep other things there. No tool can open those, so the list leaves them out. The
        copies of a document are listed also if its path is declared no more: an erasure must find them.
        """
        listed = self._list(path.text)
        return listed if path.document_name else tuple(filter(self.declared.allow, listed))

    def users(self, root: str = "users") -> tuple[GardenPath, ...]:
        """List the gardens of this home, or with the root `history` their histories."""
        return self._list(root)

    def documents(self, folder: GardenPath, on_unlisted: OnUnlisted | None = None) -> Iterator[GardenPath]:
        """Find every document, or copy, in a folder and below; one that vanishes meanwhile is left out.

        A folder that can't be listed is an error, unless the caller passes `on_unlisted`.
        """
        try:
            listed = self.list_folder(folder)
        except FileMissingError:
            return
        except FileError as error:
            if on_unlisted is None:
                raise
            on_unlisted(folder, error)
            return
        for path in listed:
            if path.is_folder:
                yield from self.documents(path, on_unlisted)
            else:
                yield path

    def others(self, folder: GardenPath) -> Iterator[str]:
        """Find the files in a folder and below that are no part of the garden, hidden files aside.

        A folder that can't be listed counts as empty.
        """
        with suppress(FileError):
            with self.open_folder(folder) as handle, os.scandir(handle) as scanned:
                entries = [each for each in scanned if _NOT_HIDDEN.fullmatch(each.name)]
                paths = filter(self.declared.allow, _known_paths(folder.text, entries))
                known = {path.name: path for path in paths}
            names = sorted(each.name for each in entries)
            yield from (f"{folder}/{name}" for name in names if name not in known)
            for name in names:
                if name in known and known[name].is_folder:
                    yield from self.others(known[name])

    def count_others(self, folder: GardenPath) -> int:
        """Count the files in a folder and below that are no part of the garden."""
        return sum(1 for _ in self.others(folder))

    def usage(self, folder: GardenPath) -> Iterator[tuple[int, int]]:
        """Count the files of a folder, and of each folder below, and their bytes; what goes is left out."""
        with suppress(FileError):
            with self.open_folder(folder) as handle, os.scandir(handle) as entries:
                files = [
                    each.stat(follow_symlinks=False)
                    for each in entries
                    if each.is_file(follow_symlinks=False)
                ]
            yield len(files), sum(status.st_size for status in files)
            for path in self.list_folder(folder):
                if path.is_folder:
                    yield from self.usage(path)

    def count_linked(self, folder: GardenPath) -> int:
        """Count the documents in a folder and below that have a second name, not given by this service.

        A folder that can't be listed counts as empty.
        """
        return sum(map(self._has_other_name, self.documents(folder, lambda *_: None)))

    def ensure_folders(self, path: GardenPath) -> None:
        """Make a garden's folder and its parents, private and durable, where they are missing."""
        check_place(path, Place.FOLDER)
        with translate_os_errors():
            close_quietly(self.open_ensured(path))

    def remove(self, folder: GardenPath, names: re.Pattern[str]) -> int:
        """Remove the files of a folder whose names match; returns how many were removed."""
        with suppress(FileMissingError), self.open_folder(folder) as handle:
            return remove_in(handle, names)
        return 0

    def exists(self, path: GardenPath) -> bool:
        """Whether the file or folder is there; anything else in its place is refused."""
        try:
            with translate_os_errors(), self.open(path.text, LOOK) as handle:
                check_type(os.fstat(handle), folder=path.is_folder)
        except FileMissingError:
            return False
        return True

    def changed_at(self, path: GardenPath) -> datetime:
        """When a folder on the way to a document last changed other than by the replacing of a file in it.

        A folder that was put back was renamed: that changes its own time, and both times of the folder above.
        """
        newest_ns = 0
        for way in _ways_to(path.folder.text):
            with translate_os_errors(), self.open(way, READ_FOLDER) as folder:
                status = os.fstat(folder)
                is_moved = status.st_ctime_ns > status.st_mtime_ns
                if is_moved or not _was_file_replaced(folder, status.st_ctime_ns):
                    newest_ns = max(newest_ns, status.st_ctime_ns)
        return time_of(newest_ns)

    def is_same_file(self, path: GardenPath, other: GardenPath) -> bool:
        """Whether two paths, of documents or copies, lead to one file."""
        with self.open_folder(path.folder) as one, self.open_folder(other.folder) as two:
            return identity_of(status_in(one, path.name)) == identity_of(status_in(two, other.name))

    def drop_duplicate(self, path: GardenPath, other: GardenPath, *, or_equal: bool = False) -> bool:
        """Remove the first path if both lead to one file, or, with `or_equal`, to two that hold the same."""
        with self.open_folder(other.folder) as kept, self.open_folder(path.folder) as folder:
            status = status_in(folder, path.name)
            is_duplicate = identity_of(status) == identity_of(status_in(kept, other.name))
            if not is_duplicate and or_equal:
                with open_in(folder, path.name) as one, open_in(kept, other.name) as two:
                    is_duplicate = read_stable(one)[0] == read_stable(two)[0]
            if is_duplicate:
                os.unlink(path.name, dir_fd=folder)
                sync(folder, replaced=True)
        return is_duplicate

    def confirm_way(self, way: str, folder: int) -> None:
        """Sync the name of an open folder and of each of its parents, once for each.

        This includes folders that existed already: their maker may have died before they were durable, and
        everything below a folder is lost with the folder's name. A folder that was made anew since, on any
        level, changes the stamp of its parent.
        """
        if self._confirmed.get(way) != stamp_of(status_in(folder, "..")):
            for each in _ways_to(way):
                self._confirm(each)

    def check_file(self, handle: int, path: GardenPath) -> os.stat_result:
        """Refuse anything but a plain file, and a hard link to another account's file or to a key.

        The owner of the home may have linked its files elsewhere, as a backup with `cp -al` does. A file is
        replaced and never written in place, so that no edit reaches the other name.
        """
        status = os.fstat(handle)
        check_type(status, folder=False)
        if status.st_nlink <= 1 or (status.st_uid == self._owner and not self._is_state(status)):
            return status
        # A writer moves names while they are counted. So a count may be too low, and never too high.
        for _ in range(_COUNTS_MAX):
            if os.fstat(handle).st_nlink <= max(self._names_of(path.document, identity_of(status)), 1):
                return status
        raise ForeignFileError("the file is a hard link to something that is no part of this garden")

    def _has_other_name(self, path: GardenPath) -> bool:
        try:
            with translate_os_errors(), self.open(path.text, LOOK) as handle:
                status = os.fstat(handle)
        except FileMissingError:
            return False
        return status.st_nlink > 1 and status.st_nlink > self._names_of(path, identity_of(status))

    def _is_state(self, status: os.stat_result) -> bool:
        """Whether a file is one of those in which the home keeps its keys and tokens."""
        return identity_of(status) in self._identities(".garden", _ANY_NAME)

    def _list(self, way: str) -> tuple[GardenPath, ...]:
        with translate_os_errors(), self.open(way, READ_FOLDER) as folder, os.scandir(folder) as entries:
            return tuple(sorted(_known_paths(way, entries), key=attrgetter("text")))

    def _make_folders(self, way: str) -> None:
        for each in _ways_to(way):
            parent, _, name = each.rpartition("/")
            with self.open(parent, READ_FOLDER) as folder, suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=folder)

    def _confirm(self, way: str) -> None:
        with self.open(way.rpartition("/")[0], READ_FOLDER) as parent:
            stamp = stamp_of(os.fstat(parent))
            if self._confirmed.get(way) == stamp:
                return
            sync(parent, replaced=False)
        if len(self._confirmed) >= _CONFIRMED_MAX:
            self._confirmed.clear()
        self._confirmed[way] = stamp

    def _names_of(self, document: GardenPath, identity: Identity) -> int:
        """Count the names that this service gave a file.

        A version that is being replaced has two for a moment, and for longer after a crash. A reader holds no
        lock, and must not take the second for a planted link.
        """
        own = re.compile(f"{re.escape(document.name)}|{stray_pattern(document.name).pattern}")
        found = [
            *self._identities(document.folder.text, own),
            *self._identities(document.history.text, _ANY_NAME),
        ]
        return found.count(identity)

    def _identities(self, way: str, names: re.Pattern[str]) -> Iterator[Identity]:
        with suppress(FileNotFoundError), self.open(way, READ_FOLDER) as folder:
            for name in names_in(folder, names):
                with suppress(FileNotFoundError):
                    yield identity_of(status_in(folder, name))


def _was_file_replaced(folder: int, at_ns: int) -> bool:
    """Whether a file of an open folder got its name when the folder changed."""
    for name in names_in(folder, _NOT_HIDDEN):
        with suppress(FileNotFoundError):
            status = status_in(folder, name)
            if S_ISREG(status.st_mode) and abs(status.st_ctime_ns - at_ns) <= CLOCK_STEP_NS:
                return True
    return False


def _ways_to(way: str) -> list[str]:
    """The folders on a way, from the home on."""
    names = way.split("/")
    return ["/".join(names[:depth]) for depth in range(1, len(names) + 1)]


def check_place(path: GardenPath, place: Place) -> None:
    """Refuse a path of another kind."""
    if path.place is not place:
        raise PathNotAllowedError(f"a {place.replace('_', ' ')} is wanted, and this is a {path.place}")


@contextmanager
def skip_unlisted(folder: GardenPath, on_unlisted: OnUnlisted | None) -> Iterator[None]:
    """Go on after a folder that has gone, and report one that can't be listed."""
    try:
        yield
    except FileMissingError:
        pass
    except FileError as error:
        if on_unlisted is None:
            raise
        on_unlisted(folder, error)


def _known_paths(folder: str, entries: Iterable[os.DirEntry[str]]) -> Iterator[GardenPath]:
    for entry in entries:
        try:
            path = GardenPath(f"{folder}/{entry.name}")
        except PathNotAllowedError:
            continue
        has_right_type = entry.is_dir if path.is_folder else entry.is_file
        if has_right_type(follow_symlinks=False):
            yield path
