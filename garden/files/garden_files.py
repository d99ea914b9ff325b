"""The documents below `users/` and their copies below `history/`; no other code opens any of them.

A `GardenPath` is the only way to name a file, so that no caller's string ever gets here. The order of writes
is the caller's business: a document is changed under its lock.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from garden.files.beneath import LOOK, READ_FILE, READ_FOLDER, Handles, rename_new
from garden.files.declared_paths import DeclaredPaths
from garden.files.errors import FileError, FileMissingError, translate_os_errors
from garden.files.failpoints import Failpoint, reach
from garden.files.garden_folders import GardenFolders, check_place
from garden.files.history_copies import HistoryCopies
from garden.files.paths import GardenPath, PathNotAllowedError, Place
from garden.files.plain_files import (
    FileStamp,
    FreshFile,
    Identity,
    check_content,
    check_not_open,
    check_unchanged,
    open_in,
    open_to_replace,
    read_expected,
    read_stable,
    remove_in,
    stamp_of,
    stray_pattern,
    sync,
    touched_at,
)
from garden.files.prepared_file import PreparedFile
from garden.files.removals import Removals
from garden.files.strays import Strays
from garden.grammar.canonical import raw_hash


@dataclass(frozen=True)
class FileText:
    """A file as it was read: its text with every line end unchanged, and what identifies it."""

    text: str
    hash: str
    size_bytes: int
    mode: int
    stamp: FileStamp

    @property
    def identity(self) -> Identity:
        """The file under any name."""
        return self.stamp.identity

    @property
    def touched_at(self) -> datetime:
        """When the file was last written, renamed or linked."""
        return touched_at(self.stamp)


class GardenFiles(GardenFolders):
    """The files of one open garden home; any number of threads may use it."""

    def __init__(
        self, home: Path, *, step_by_step: bool = False, declared: DeclaredPaths | None = None
    ) -> None:
        super().__init__(home, step_by_step=step_by_step, declared=declared)
        self.history = HistoryCopies(self)
        self.strays = Strays(self)
        self._unconfirmed: dict[GardenPath, GardenPath | None] = {}
        self.removals = Removals(self)

    def read(self, path: GardenPath) -> FileText:
        """Read a document or a copy, in one state that did not change while it was read."""
        content, status = self._read(path)
        text = check_content(content)
        return FileText(text, raw_hash(content), len(content), status.st_mode & 0o777, stamp_of(status))

    def content(self, path: GardenPath) -> bytes:
        """Read the bytes of a document or a copy as `read` does, without what identifies it."""
        content, _ = self._read(path)
        check_content(content)
        return content

    def stamp(self, path: GardenPath) -> FileStamp:
        """Give a file's identity, size and times, without reading it."""
        with translate_os_errors(), self.open(path.text, LOOK) as handle:
            return stamp_of(os.fstat(handle))

    def is_archived(self, path: GardenPath) -> bool:
        """Whether this is a free-form document that was emptied; one that has gone is not."""
        if path.free is None or path.place is not Place.DOCUMENT:
            return False
        with suppress(FileError):
            return self.stamp(path).size_bytes == 0
        return False

    def live_documents(self, folder: GardenPath) -> Iterator[GardenPath]:
        """Find every document, or copy, in a folder and below, but those that were archived."""
        return (path for path in self.documents(folder) if not self.is_archived(path))

    def replace(
        self,
        path: GardenPath,
        content: bytes,
        *,
        expected: str | None,
        keep_previous: GardenPath | None = None,
    ) -> str:
        """Replace a document's content in one step, durably; returns the hash of its bytes.

        `expected` is the hash of the bytes to replace, which are read again here, or None where there must be
        no file yet. `keep_previous` is the path of the copy that keeps the version replaced: a hard link to
        the old file, which costs no copying and which no later edit of the document reaches. After an error
        nothing has changed, except after a `SyncFailedError` that says `replaced`.
        """
        with self.prepare(
            path, content, expected=expected, keep_previous=keep_previous, clears_strays=False
        ) as prepared:
            prepared.sync_content()
            prepared.put()
            prepared.sync_names()
        return raw_hash(content)

    def prepare(
        self,
        path: GardenPath,
        content: bytes,
        *,
        expected: str | None,
        keep_previous: GardenPath | None = None,
        clears_strays: bool = True,
    ) -> PreparedFile:
        """Write a document's new content beside it; arguments as in `replace`.

        This comes before the edit is recorded. A full disk then refuses it early, and a process that settles
        an abandoned edit removes the file without which its writer, waking up late, can do no harm. The
        strays that killed writers left beside the document go first, unless the caller does not hold the lock
        yet. The caller syncs the content, puts it in its place and syncs the names, in this order.
        """
        check_place(path, Place.DOCUMENT)
        if expected is None:
            # An erasure replaces a document also where its path is declared no more.
            self.declared.check(path)
        check_content(content)
        handles = Handles()
        try:
            with translate_os_errors():
                if expected is None:
                    folder = self.open_ensured(path.folder)
                else:
                    folder = self.open(path.folder.text, READ_FOLDER)
                handles.append(folder)
                if clears_strays:
                    remove_in(folder, stray_pattern(path.name))
                if expected is not None:
                    return self._prepare_next(handles, path, content, expected, keep_previous)
                fresh = FreshFile(folder, path.name, content)
                return PreparedFile(path, folder, fresh, handles, self._unconfirmed)
        except BaseException:
            with handles:
                raise

    def _read(self, path: GardenPath) -> tuple[bytes, os.stat_result]:
        with translate_os_errors(), self.open(path.text, READ_FILE) as handle:
            return read_stable(handle, self.check_file(handle, path))

    def _prepare_next(
        self, handles: Handles, path: GardenPath, content: bytes, expected: str, copy: GardenPath | None
    ) -> PreparedFile:
        """Prepare a replacement, which takes 24 system calls, 2 of them fsyncs; with a copy 29, 3 of them.

        The fsync of the file comes before the rename. Those of the folders come after the rename and the
        link, which the journal of a file system then writes together. Walking step by step takes more calls,
        and so does the search for strays.
        """
        [folder] = handles
        handle = open_to_replace(folder, path.name)
        handles.append(handle)
        self.confirm_way(path.folder.text, folder)
        history = None
        if copy is not None:
            history = self._open_history(path, copy)
            handles.append(history)
        like = self.check_file(handle, path)
        # Checked before the edit is recorded, and again by `put`, at the last moment.
        check_not_open(handle)
        fresh = FreshFile(folder, path.name, content, like=like)
        return PreparedFile(path, folder, fresh, handles, self._unconfirmed, handle, expected, history, copy)

    def _open_history(self, path: GardenPath, copy: GardenPath) -> int:
        check_place(copy, Place.HISTORY_COPY)
        if copy.document != path:
            raise PathNotAllowedError("it is not in the history of this document")
        return self.open_ensured(copy.folder)

    def move(self, path: GardenPath, new_path: GardenPath, *, expected: str) -> None:
        """Give a document another path, where there must be no file yet; its history stays where it is."""
        check_place(path, Place.DOCUMENT)
        check_place(new_path, Place.DOCUMENT)
        self.declared.check(new_path)
        with (
            translate_os_errors(),
            self.open(path.folder.text, READ_FOLDER) as folder,
            open_in(folder, path.name) as handle,
        ):
            self.check_file(handle, path)
            with self.open_ensured(new_path.folder) as new_folder:
                _, status = read_expected(handle, expected)
                check_unchanged(status, folder, path.name)
                rename_new(path.name, new_path.name, folder, new_folder)
                reach(Failpoint.REPLACED)
                sync(new_folder, replaced=True)
                sync(folder, replaced=True)

    def make_durable(self, path: GardenPath) -> None:
        """Bring a document to the disk, or the fact that it has no file.

        The content is written once more: the kernel believes a failed fsync to have written it.
        """
        check_place(path, Place.DOCUMENT)
        try:
            file = self.read(path)
        except FileMissingError:
            self.confirm_name(path)
        else:
            self.replace(path, file.text.encode(), expected=file.hash)

    def is_confirmed(self, path: GardenPath) -> bool:
        """Whether no earlier write of this process is left to be brought to the disk."""
        return path not in self._unconfirmed

    def confirm(self, path: GardenPath) -> None:
        """Bring to the disk what an earlier write of this process could not bring there.

        Until then a document takes no edits and answers no request for the second time.
        """
        if self.is_confirmed(path):
            return
        copy = self._unconfirmed[path]
        if copy is not None:
            self.history.confirm(copy)
        self.make_durable(path)
        self._unconfirmed.pop(path, None)

    def confirm_name(self, path: GardenPath) -> None:
        """Sync a document's folder, and with it that the document has this name or has it no more."""
        check_place(path, Place.DOCUMENT)
        with suppress(FileMissingError), self.open_folder(path.folder) as folder:
            sync(folder, replaced=True)

    def drop_second_name(self, path: GardenPath, first: GardenPath) -> bool:
        """Remove a document's path if the same file has another document's path as well."""
        check_place(path, Place.DOCUMENT)
        check_place(first, Place.DOCUMENT)
        return self.drop_duplicate(path, first)
