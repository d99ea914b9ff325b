"""The files below the garden home's `users/` and `history/`; no other code opens any of them.

The home's folder is opened once. Everything below is reached from that handle without following links, and
what a file is (its type, size and links) is asked of the open handle, never of its name. A `GardenPath` is
the only way to say which file is meant, so that nothing here ever sees a caller's string.

The order of writes is the callers' business: what changes a document belongs under the document's lock.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from garden.files.beneath import LOOK, READ_FILE, READ_FOLDER, choose_resolver, give_back, rename_new
from garden.files.errors import (
    FileChangedError,
    FileError,
    FileExistsAlreadyError,
    FileMissingError,
    ForeignFileError,
    translated,
)
from garden.files.failpoints import Failpoint, reach
from garden.files.paths import GardenPath, PathNotAllowedError, Place
from garden.files.plain_files import (
    Identity,
    Look,
    check_content,
    check_not_open,
    check_still,
    check_type,
    expected_content,
    fresh_file,
    fresh_names,
    identity_of,
    kept,
    look_of,
    named_for,
    names_in,
    opened_in,
    put_in_place,
    raw_hash,
    rename_anew,
    status_in,
    sync,
    touched_at,
    whole_content,
    write_new,
)

Unlisted = Callable[[GardenPath, FileError], None]
"""Is told of a folder that can't be listed, so that the search goes on with the others."""

_ANY_NAME = re.compile(".*", re.DOTALL)
_NOT_HIDDEN = re.compile("[^.].*", re.DOTALL)
_CONFIRMED_MAX = 10_000


@dataclass(frozen=True)
class FileText:
    """A file as it was read: its text with every line end as it is, and what identifies it."""

    text: str
    hash: str
    size_bytes: int
    mode: int
    identity: Identity
    touched_at: datetime
    look: Look


class Replacement:
    """A replacement that is ready to be put in its place; its content is on the disk already."""

    def __init__(self, put: Callable[[], None]) -> None:
        self._put = put

    def put(self) -> None:
        """Put it in its place, durably."""
        with translated():
            self._put()


class GardenFiles:
    """The files of one garden home, for as long as it is open; may be used by many threads at once."""

    def __init__(self, home: Path, *, step_by_step: bool = False) -> None:
        with translated():
            self._home = os.open(home, READ_FOLDER | os.O_CLOEXEC)
        self._resolve = choose_resolver(self._home, step_by_step=step_by_step)
        # Folders whose names are known to be on the disk, and what the folder above each looked like then.
        self._confirmed: dict[tuple[str, ...], Look] = {}

    def close(self) -> None:
        """Give the home's handle back; nothing can be reached through this object any more."""
        if self._home >= 0:
            os.close(self._home)
            self._home = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self, path: GardenPath) -> FileText:
        """Read a document or a copy, as one state of it that stood still while it was read."""
        with translated(), self._opened(path.components, READ_FILE) as handle:
            self._check_file(handle, path)
            content, status = whole_content(handle)
        return FileText(
            check_content(content),
            raw_hash(content),
            len(content),
            status.st_mode & 0o777,
            identity_of(status),
            touched_at(status),
            look_of(status),
        )

    def look(self, path: GardenPath) -> Look:
        """Tell what a document's file looks like, without reading it."""
        with translated(), self._opened(path.components, LOOK) as handle:
            return look_of(os.fstat(handle))

    def exists(self, path: GardenPath) -> bool:
        """Whether the file or folder is there; anything else in its place is refused."""
        try:
            with translated(), self._opened(path.components, LOOK) as handle:
                check_type(os.fstat(handle), folder=path.is_folder)
        except FileMissingError:
            return False
        return True

    def list_folder(self, path: GardenPath) -> tuple[GardenPath, ...]:
        """List what a folder holds that this service knows, in the order of the names.

        A person may keep other things there. No tool could open them, so they are not named.
        """
        return self._list(path.components)

    def users(self) -> tuple[GardenPath, ...]:
        """List the gardens of this home."""
        return self._list(("users",))

    def documents(self, folder: GardenPath, unlisted: Unlisted | None = None) -> Iterator[GardenPath]:
        """Find every document, or copy, in a folder and all below; what vanishes meanwhile is left out.

        A folder that can't be listed is an error, unless somebody is there to be told of it.
        """
        with _going_on(folder, unlisted):
            for path in self.list_folder(folder):
                if path.is_folder:
                    yield from self.documents(path, unlisted)
                else:
                    yield path

    def count_others(self, folder: GardenPath) -> int:
        """Count what lies in a folder and all below and is no part of the garden, hidden files aside.

        What lies in a folder that can't be listed is not counted.
        """
        with suppress(FileError):
            with translated(), self._opened(folder.components, READ_FOLDER) as handle:
                names = set(names_in(handle, _NOT_HIDDEN))
            known = self.list_folder(folder)
            below = sum(self.count_others(path) for path in known if path.is_folder)
            return len(names - {path.name for path in known}) + below
        return 0

    def ensure_folders(self, path: GardenPath) -> None:
        """Make a garden's folder, and those on the way to it, private and durable, unless they are there."""
        _check_place(path, Place.FOLDER)
        with translated(), self._ensured(path):
            pass

    def replace(
        self,
        path: GardenPath,
        content: bytes,
        *,
        expected: str | None,
        keep_previous: GardenPath | None = None,
    ) -> str:
        """Put new content in a document's place in one step, durably; gives the hash of its bytes.

        `expected` is the hash of the bytes that are to be replaced, read again here, or None where there must
        be nothing yet. `keep_previous` is the path of the copy that keeps the version replaced: a hard link
        to the old file, so that it costs no copying, and no later edit of the document reaches it. After an
        error nothing has changed, except after a `SyncFailedError` that says `replaced`.
        """
        with self._prepared(path, content, expected, keep_previous) as replacement:
            replacement.put()
        return raw_hash(content)

    @contextmanager
    def prepared(
        self,
        path: GardenPath,
        content: bytes,
        *,
        expected: str | None,
        keep_previous: GardenPath | None = None,
    ) -> Iterator[Replacement]:
        """Make a replacement ready, under the document's lock: the new content is on the disk, beside it.

        That comes before a change is begun. A disk that is full refuses before anything was said of it; and
        whoever settles a change that was begun and given up takes away the file that its writer would need,
        should it wake up late. What killed writers left of that kind is taken away here.
        """
        self._remove(path.folder, fresh_names(path.name))
        with self._prepared(path, content, expected, keep_previous) as replacement:
            yield replacement

    @contextmanager
    def _prepared(
        self, path: GardenPath, content: bytes, expected: str | None, copy: GardenPath | None
    ) -> Iterator[Replacement]:
        _check_place(path, Place.DOCUMENT)
        check_content(content)
        with translated(), ExitStack() as stack:
            if expected is None:
                yield self._ready_to_begin(stack, path, content)
            else:
                yield self._ready(stack, path, content, expected, copy)

    def move(self, path: GardenPath, new_path: GardenPath, *, expected: str) -> None:
        """Give a document another path, at which there must be nothing yet; its history stays where it is."""
        _check_place(path, Place.DOCUMENT)
        _check_place(new_path, Place.DOCUMENT)
        with translated(), ExitStack() as stack:
            folder = stack.enter_context(self._opened(path.folder.components, READ_FOLDER))
            handle = stack.enter_context(opened_in(folder, path.name))
            self._check_file(handle, path)
            new_folder = stack.enter_context(self._ensured(new_path.folder))
            _, status = expected_content(handle, expected)
            check_still(status, folder, path.name)
            rename_new(path.name, new_path.name, folder, new_folder)
            reach(Failpoint.REPLACED)
            sync(new_folder, replaced=True)
            sync(folder, replaced=True)

    def make_durable(self, path: GardenPath) -> None:
        """Bring to the disk what stands at a document's path, or that nothing does.

        The content is written once more: the kernel takes for written what an fsync failed to write.
        """
        _check_place(path, Place.DOCUMENT)
        try:
            file = self.read(path)
        except FileMissingError:
            self.confirm_name(path)
        else:
            self.replace(path, file.text.encode(), expected=file.hash)

    def write_history_copy(self, copy: GardenPath, content: bytes) -> None:
        """Write a copy into the history, durably; one that is there already must be the same."""
        _check_place(copy, Place.HISTORY_COPY)
        check_content(content)
        with translated(), self._ensured(copy.folder) as folder:
            try:
                write_new(folder, copy.name, content)
            except FileExistsError:
                self._check_same(copy, content)
            sync(folder, replaced=True)

    def confirm_history_copy(self, copy: GardenPath) -> bool:
        """Bring the name of a copy to the disk; whether there is such a copy.

        It is given anew: the kernel takes for written what an fsync failed to write.
        """
        _check_place(copy, Place.HISTORY_COPY)
        if not self.exists(copy):
            return False
        with translated(), self._opened(copy.folder.components, READ_FOLDER) as folder:
            rename_anew(folder, copy.name)
            sync(folder, replaced=True)
        return True

    def drop_history_link(self, copy: GardenPath) -> bool:
        """Remove a copy that is one file with its document: the write it was made for replaced nothing.

        Where no links can be made it is a file of its own, and goes if it holds what the document does.
        """
        _check_place(copy, Place.HISTORY_COPY)
        return self._drop_name(copy, copy.document, or_alike=True)

    def are_one(self, path: GardenPath, other: GardenPath) -> bool:
        """Whether two paths, of documents or copies, lead to one file."""
        with translated(), ExitStack() as stack:
            folders = [
                stack.enter_context(self._opened(each.folder.components, READ_FOLDER))
                for each in (path, other)
            ]
            one, two = (
                status_in(folder, each.name) for folder, each in zip(folders, (path, other), strict=True)
            )
        return identity_of(one) == identity_of(two)

    def confirm_name(self, path: GardenPath) -> None:
        """Bring to the disk that a document stands at a path, or that none does."""
        _check_place(path, Place.DOCUMENT)
        with suppress(FileMissingError), translated(), ExitStack() as stack:
            folder = stack.enter_context(self._opened(path.folder.components, READ_FOLDER))
            sync(folder, replaced=True)

    def drop_second_name(self, path: GardenPath, first: GardenPath) -> bool:
        """Remove a document's path if the document stands at another path as well, as one file."""
        _check_place(path, Place.DOCUMENT)
        _check_place(first, Place.DOCUMENT)
        return self._drop_name(path, first)

    def _drop_name(self, path: GardenPath, other: GardenPath, *, or_alike: bool = False) -> bool:
        with translated(), ExitStack() as stack:
            kept = stack.enter_context(self._opened(other.folder.components, READ_FOLDER))
            folder = stack.enter_context(self._opened(path.folder.components, READ_FOLDER))
            one = identity_of(status_in(folder, path.name)) == identity_of(status_in(kept, other.name))
            if not one and or_alike:
                handles = [
                    stack.enter_context(opened_in(*each))
                    for each in ((folder, path.name), (kept, other.name))
                ]
                one = whole_content(handles[0])[0] == whole_content(handles[1])[0]
            if one:
                os.unlink(path.name, dir_fd=folder)
                sync(folder, replaced=True)
        return one

    def documents_with_strays(self, user_id: str, unlisted: Unlisted | None = None) -> Iterator[GardenPath]:
        """Find every document beside which, or beside whose copies, a temporary file lies."""
        for top in (f"users/{user_id}", f"history/{user_id}"):
            yield from dict.fromkeys(self._with_strays(GardenPath(top), unlisted))

    def _with_strays(self, folder: GardenPath, unlisted: Unlisted | None) -> Iterator[GardenPath]:
        with _going_on(folder, unlisted):
            for name in self._stray_names(folder):
                with suppress(PathNotAllowedError):
                    yield folder.document if folder.document_name else GardenPath(f"{folder.text}/{name}")
            for path in self.list_folder(folder):
                if path.is_folder:
                    yield from self._with_strays(path, unlisted)

    def _stray_names(self, folder: GardenPath) -> list[str]:
        with translated(), self._opened(folder.components, READ_FOLDER) as handle:
            return [named_for(stray) for stray in names_in(handle, fresh_names())]

    def remove_strays(self, document: GardenPath) -> int:
        """Remove the temporary files that killed writers of this document left; call it under its lock."""
        _check_place(document, Place.DOCUMENT)
        own = self._remove(document.folder, fresh_names(document.name))
        return own + self._remove(document.history, fresh_names())

    def _ready_to_begin(self, stack: ExitStack, path: GardenPath, content: bytes) -> Replacement:
        folder = stack.enter_context(self._ensured(path.folder))
        fresh = stack.enter_context(fresh_file(folder, path.name, content))

        def put() -> None:
            with _unless_taken_away():
                rename_new(fresh, path.name, folder, folder)
            reach(Failpoint.REPLACED)
            sync(folder, replaced=True)

        return Replacement(put)

    def _ready(
        self, stack: ExitStack, path: GardenPath, content: bytes, expected: str, copy: GardenPath | None
    ) -> Replacement:
        """Replace, in 29 system calls, 2 of them fsyncs; with a copy to keep, in 36, 3 of them fsyncs.

        The fsync of the file comes first. Those of the folders come after the rename and the link, which the
        journal of a file system then writes together. Step by step there are more.
        """
        folder = stack.enter_context(self._opened(path.folder.components, READ_FOLDER))
        handle = stack.enter_context(opened_in(folder, path.name))
        self._confirm_way(path.folder.components)
        history = stack.enter_context(self._history(path, copy)) if copy else None
        like = self._check_file(handle, path)
        # Refused here it is refused before anything is recorded; asked again, at the last moment, below.
        check_not_open(handle)
        fresh = stack.enter_context(fresh_file(folder, path.name, content, like=like))

        def put() -> None:
            # The slow part, the fsync, is over: from here on an edit from outside has little time.
            previous, status = expected_content(handle, expected)
            with ExitStack() as undo:
                if copy and history is not None:
                    undo.enter_context(kept(folder, path.name, status, previous, history, copy.name))
                    reach(Failpoint.KEPT)
                check_still(status, folder, path.name)
                check_not_open(handle)
                with _unless_taken_away():
                    put_in_place(fresh, path.name, status, folder)
            reach(Failpoint.REPLACED)
            sync(folder, replaced=True)
            if history is not None:
                sync(history, replaced=True)

        return Replacement(put)

    @contextmanager
    def _history(self, path: GardenPath, copy: GardenPath) -> Iterator[int]:
        _check_place(copy, Place.HISTORY_COPY)
        if copy.document != path:
            raise PathNotAllowedError("it is not in the history of this document")
        with self._ensured(copy.folder) as history:
            yield history

    def _check_same(self, copy: GardenPath, content: bytes) -> None:
        with self._opened(copy.components, READ_FILE) as handle:
            self._check_file(handle, copy)
            if whole_content(handle)[0] != content:
                raise FileExistsAlreadyError

    def _list(self, components: tuple[str, ...]) -> tuple[GardenPath, ...]:
        with translated(), self._opened(components, READ_FOLDER) as folder, os.scandir(folder) as entries:
            return tuple(sorted(_known("/".join(components), entries), key=str))

    def _remove(self, path: GardenPath, names: re.Pattern[str]) -> int:
        with suppress(FileMissingError), translated(), self._opened(path.components, READ_FOLDER) as folder:
            strays = names_in(folder, names)
            for stray in strays:
                os.unlink(stray, dir_fd=folder)
            return len(strays)
        return 0

    @contextmanager
    def _opened(self, components: tuple[str, ...], flags: int) -> Iterator[int]:
        handle = self._resolve(self._home, components, flags)
        try:
            yield handle
        finally:
            give_back(handle)

    @contextmanager
    def _ensured(self, path: GardenPath) -> Iterator[int]:
        try:
            handle = self._resolve(self._home, path.components, READ_FOLDER)
        except FileNotFoundError:
            self._make_folders(path.components)
            handle = self._resolve(self._home, path.components, READ_FOLDER)
        try:
            self._confirm_way(path.components)
            yield handle
        finally:
            give_back(handle)

    def _make_folders(self, components: tuple[str, ...]) -> None:
        for depth, name in enumerate(components):
            with self._opened(components[:depth], READ_FOLDER) as parent, suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=parent)

    def _confirm_way(self, components: tuple[str, ...]) -> None:
        """Bring the names of a folder, and of those on the way to it, to the disk, once for each.

        Also of those that were there already: whoever made one may have died before it was durable, and all
        that is confirmed in a folder is lost with the folder's name. A folder that was made anew since, on
        whatever level, shows in what the one above it looks like.
        """
        if not self._is_confirmed(components):
            for depth in range(1, len(components) + 1):
                self._confirm(components[:depth])

    def _is_confirmed(self, way: tuple[str, ...]) -> bool:
        with self._opened(way[:-1], LOOK) as parent:
            return self._confirmed.get(way) == look_of(os.fstat(parent))

    def _confirm(self, way: tuple[str, ...]) -> None:
        with self._opened(way[:-1], READ_FOLDER) as parent:
            look = look_of(os.fstat(parent))
            if self._confirmed.get(way) == look:
                return
            sync(parent, replaced=False)
        if len(self._confirmed) >= _CONFIRMED_MAX:
            self._confirmed.clear()
        self._confirmed[way] = look

    def _check_file(self, handle: int, path: GardenPath) -> os.stat_result:
        """Refuse what is no plain file, and a file with more names than this service gave it."""
        status = os.fstat(handle)
        check_type(status, folder=False)
        if status.st_nlink > 1:
            names = self._names_of(path.document, identity_of(status))
            # Asked again, since a name less may be left by now; names are only ever counted too low by that.
            if os.fstat(handle).st_nlink > max(names, 1):
                raise ForeignFileError("the file has a second name, a hard link, in another place")
        return status

    def _names_of(self, document: GardenPath, identity: Identity) -> int:
        """Count the names that a file has by our own doing.

        A version that is being replaced has two for a moment, and for longer where a crash came in between. A
        reader, who holds no lock, must not take that for a link that somebody planted.
        """
        own = re.compile(f"{re.escape(document.name)}|{fresh_names(document.name).pattern}")
        found = [*self._identities(document.folder, own), *self._identities(document.history, _ANY_NAME)]
        return found.count(identity)

    def _identities(self, path: GardenPath, names: re.Pattern[str]) -> Iterator[Identity]:
        with suppress(FileNotFoundError), self._opened(path.components, READ_FOLDER) as folder:
            for name in names_in(folder, names):
                with suppress(FileNotFoundError):
                    yield identity_of(status_in(folder, name))


def _check_place(path: GardenPath, place: Place) -> None:
    if path.place is not place:
        raise PathNotAllowedError(f"a {place.replace('_', ' ')} is wanted, and this is a {path.place}")


@contextmanager
def _going_on(folder: GardenPath, unlisted: Unlisted | None) -> Iterator[None]:
    try:
        yield
    except FileMissingError:
        pass
    except FileError as error:
        if unlisted is None:
            raise
        unlisted(folder, error)


@contextmanager
def _unless_taken_away() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        # Whoever gave this change up took its temporary file away.
        raise FileChangedError from None


def _known(folder: str, entries: Iterable[os.DirEntry[str]]) -> Iterator[GardenPath]:
    for entry in entries:
        with suppress(PathNotAllowedError):
            path = GardenPath(f"{folder}/{entry.name}")
            is_what_it_should = entry.is_dir if path.is_folder else entry.is_file
            if is_what_it_should(follow_symlinks=False):
                yield path
