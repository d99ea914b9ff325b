"""A document's new content, written beside it under a temporary name and ready to take its place."""

from dataclasses import dataclass
from os import stat_result
from types import TracebackType
from typing import Self

from garden.files.beneath import Handles, rename_new
from garden.files.errors import ContentRemovedError, SyncFailedError, translate_os_errors
from garden.files.failpoints import Failpoint, reach
from garden.files.paths import GardenPath
from garden.files.plain_files import (
    FreshFile,
    check_not_open,
    check_unchanged,
    keep_copy,
    put_in_place,
    read_expected,
    remove_copy,
    remove_in,
    stray_pattern,
    sync,
    time_of,
)


@dataclass(frozen=True)
class PreparedFile:
    """The temporary file `fresh` in an open `folder`, which is to get the name of the document at `path`.

    `handle` is the file that it replaces, which must hash to `expected`; None for a new document. With
    `history`, an open folder, the version replaced is kept there as `copy`. `unconfirmed` collects the
    documents, each with its newest copy, whose names the disk did not confirm. The end of the `with` block
    closes the `handles`, and removes the temporary file after an error.
    """

    path: GardenPath
    folder: int
    fresh: FreshFile
    handles: Handles
    unconfirmed: dict[GardenPath, GardenPath | None]
    handle: int | None = None
    expected: str = ""
    history: int | None = None
    copy: GardenPath | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self.handles, translate_os_errors():
            self.fresh.__exit__(kind, error, trace)
            if isinstance(error, OSError):
                raise error

    @property
    def file_time(self) -> str:
        """When the content was written, by the clock of the file system."""
        return time_of(self.fresh.status.st_mtime_ns).isoformat()

    def sync_content(self) -> None:
        """Bring the content to the disk, before it takes its place."""
        with translate_os_errors():
            sync(self.fresh.handle, replaced=False)
            self.fresh.close()

    def put(self) -> None:
        """Put the content in its place; the name of a new document is on the disk then."""
        with translate_os_errors():
            if self.handle is not None:
                self._replace(self.handle)
                reach(Failpoint.REPLACED)
                return
            try:
                rename_new(self.fresh.name, self.path.name, self.folder, self.folder)
            except FileNotFoundError:
                # Another process settled this edit, and removed its temporary file.
                raise ContentRemovedError from None
            reach(Failpoint.REPLACED)
            self._sync_names()

    def clear_strays(self) -> None:
        """Remove the strays beside the document, after `put` and under the lock."""
        with translate_os_errors():
            remove_in(self.folder, stray_pattern(self.path.name))

    def sync_names(self) -> None:
        """Bring the names of a replaced document and of its copy to the disk.

        The change may be committed before: if a power failure takes the names, the events have the text. A
        new document would be missing, so `put` has brought its name to the disk.
        """
        if self.handle is not None:
            self._sync_names()

    def _sync_names(self) -> None:
        try:
            sync(self.folder, replaced=True)
            if self.history is not None:
                sync(self.history, replaced=True)
        except SyncFailedError:
            self.unconfirmed[self.path] = self.copy
            raise

    def _replace(self, handle: int) -> None:
        # The slow part, the sync of the content, is over: from here on an outside edit has little time.
        previous, status = read_expected(handle, self.expected)
        if self.history is None or self.copy is None:
            self._exchange(handle, status)
            return
        places = (self.folder, self.path.name, status, previous, self.history, self.copy.name)
        is_new = keep_copy(*places)
        try:
            reach(Failpoint.KEPT)
            self._exchange(handle, status)
        except BaseException as error:
            is_replaced = isinstance(error, SyncFailedError) and error.replaced
            if is_new and not is_replaced:
                remove_copy(self.history, self.copy.name)
            raise

    def _exchange(self, handle: int, status: stat_result) -> None:
        check_unchanged(status, self.folder, self.path.name)
        check_not_open(handle)
        try:
            put_in_place(self.fresh, self.path.name, status, self.folder)
        except FileNotFoundError:
            # Another process settled this edit, or took its temporary file for a stray.
            raise ContentRemovedError from None
