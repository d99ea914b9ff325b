"""Removals: what an erasure takes from the disk. Nothing else in the product deletes a document or a copy."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from garden.files.beneath import READ_FOLDER
from garden.files.errors import FileMissingError, translate_os_errors
from garden.files.failpoints import Failpoint, reach
from garden.files.garden_folders import GardenFolders, check_place
from garden.files.paths import GardenPath, Place
from garden.files.plain_files import FreshFile, check_content, check_unchanged, open_in, read_expected, sync

_COPY = re.compile(r"[^.].*\.md")


class Removals:
    """Removes documents, copies and empty folders, durably; the caller holds the document's lock."""

    def __init__(self, folders: GardenFolders) -> None:
        self._folders = folders

    def remove_document(self, path: GardenPath, *, expected: str) -> None:
        """Remove a document whose bytes have this hash."""
        check_place(path, Place.DOCUMENT)
        with translate_os_errors(), self._folders.open(path.folder.text, READ_FOLDER) as folder:
            with open_in(folder, path.name) as handle:
                self._folders.check_file(handle, path)
                _, status = read_expected(handle, expected)
                check_unchanged(status, folder, path.name)
            os.unlink(path.name, dir_fd=folder)
            reach(Failpoint.REPLACED)
            sync(folder, replaced=True)

    def remove_unreadable(self, path: GardenPath) -> None:
        """Remove something that no tool can read from a document's path; what a link leads to stays."""
        check_place(path, Place.DOCUMENT)
        with translate_os_errors(), self._folders.open(path.folder.text, READ_FOLDER) as folder:
            os.unlink(path.name, dir_fd=folder)
            sync(folder, replaced=True)

    def copies_of(self, document: GardenPath) -> Iterator[GardenPath]:
        """List the copies in a document's history."""
        with suppress(FileMissingError):
            yield from (each for each in self._folders.list_folder(document.history) if not each.is_folder)

    def remove_copies(self, document: GardenPath) -> int:
        """Remove every copy of a document's earlier versions; returns their number."""
        removed = self._folders.remove(document.history, _COPY)
        with suppress(FileMissingError), self._folders.open_folder(document.history) as folder:
            sync(folder, replaced=True)
        return removed

    def rewrite_copy(self, copy: GardenPath, content: bytes) -> None:
        """Put other content into a copy."""
        check_place(copy, Place.HISTORY_COPY)
        check_content(content)
        with self._folders.open_folder(copy.folder) as folder:
            with FreshFile(folder, copy.name, content) as fresh:
                sync(fresh.handle, replaced=False)
                os.rename(fresh.name, copy.name, src_dir_fd=folder, dst_dir_fd=folder)
            sync(folder, replaced=True)

    def remove_empty_folders(self, folder: GardenPath) -> None:
        """Remove a folder and those below it, as far as they are empty."""
        with suppress(FileMissingError):
            for each in self._folders.list_folder(folder):
                if each.is_folder:
                    self.remove_empty_folders(each)
            parent, _, name = folder.text.rpartition("/")
            with self._folders.open(parent, READ_FOLDER) as handle, suppress(OSError):
                os.rmdir(name, dir_fd=handle)
                sync(handle, replaced=True)
