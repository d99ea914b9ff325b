"""A document's new content, on the disk under a temporary name and ready to take its place."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from garden.files.beneath import rename_new
from garden.files.errors import FileChangedError, translate_os_errors
from garden.files.failpoints import Failpoint, reach
from garden.files.plain_files import (
    FreshFile,
    check_not_open,
    check_unchanged,
    keep_copy,
    put_in_place,
    read_expected,
    sync,
)


@dataclass(frozen=True)
class PreparedFile:
    """The temporary file `fresh` in an open `folder`, which is to be called `name`.

    `handle` is the file that it replaces, which must hash to `expected`; None for a new document. With
    `history`, an open folder, the version replaced is kept there as `copy`.
    """

    folder: int
    name: str
    fresh: FreshFile
    handle: int | None = None
    expected: str = ""
    history: int | None = None
    copy: str = ""

    def put(self) -> None:
        """Put the content in its place, durably."""
        with translate_os_errors():
            if self.handle is None:
                with _refuse_if_removed():
                    rename_new(self.fresh.name, self.name, self.folder, self.folder)
            else:
                self._replace(self.handle)
            reach(Failpoint.REPLACED)
            sync(self.folder, replaced=True)
            if self.history is not None:
                sync(self.history, replaced=True)

    def _replace(self, handle: int) -> None:
        # The slow part, the fsync, is over: from here on an outside edit has little time.
        previous, status = read_expected(handle, self.expected)
        with ExitStack() as undo:
            if self.history is not None:
                undo.enter_context(
                    keep_copy(self.folder, self.name, status, previous, self.history, self.copy)
                )
                reach(Failpoint.KEPT)
            check_unchanged(status, self.folder, self.name)
            check_not_open(handle)
            with _refuse_if_removed():
                put_in_place(self.fresh, self.name, status, self.folder)


@contextmanager
def _refuse_if_removed() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        # Another process settled this edit, and removed its temporary file.
        raise FileChangedError from None
