"""The errors that files can cause; none of them names a host path."""

import errno
import os
from contextlib import AbstractContextManager
from types import TracebackType
from typing import ClassVar

from garden.grammar.errors import GardenError


class FileError(GardenError):
    """A document, folder or copy on the disk can't be used."""


class FileMissingError(FileError):
    """No file is at this path."""

    code: ClassVar[str] = "not_found"

    def __init__(self) -> None:
        super().__init__(
            "There is nothing at this path.",
            hint="List the files with fs.list, or create one with md.plant, below memories/ with fs.write.",
        )


class ForeignFileError(FileError):
    """A link or special file is in the place of a plain file or folder."""

    code: ClassVar[str] = "path_not_allowed"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"This path is not allowed: {what}.",
            hint="A garden holds only folders and plain files, no links and no special files. Put the file "
            "itself in its place.",
        )


class FileTooLargeError(FileError):
    """The file is larger than a document may be."""

    code: ClassVar[str] = "too_large"

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(
            f"A document holds at most {limit_bytes} bytes.",
            hint="Move older entries into another document.",
            details={"limitBytes": limit_bytes},
        )


class NotTextError(FileError):
    """The file is not UTF-8 text."""

    code: ClassVar[str] = "not_text"

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(
            f"A document is UTF-8 text, and this file has {what} at byte {offset}.",
            hint="Save the file as UTF-8 text. If it never was text, move it away and restore the document "
            "with md.restore ('garden restore').",
            details={"offset": offset},
        )


UNREADABLE = (ForeignFileError, FileTooLargeError, NotTextError)
"""Why there is something at a path that no tool can read."""


class FileExistsAlreadyError(FileError):
    """A file is there already, and creating never overwrites."""

    code: ClassVar[str] = "already_exists"

    def __init__(self) -> None:
        super().__init__(
            "A file is at this path already.",
            hint="Read it and edit it, or choose another path.",
        )


class FileChangedError(FileError):
    """The file has changed since the edit was planned."""

    code: ClassVar[str] = "precondition_failed"

    def __init__(self, current: str | None = None) -> None:
        super().__init__(
            "The file has changed since it was read; nothing was written.",
            hint="Read it again, and apply your edit to the current text.",
            details={"currentHash": current} if current else {},
        )


class ContentRemovedError(FileChangedError):
    """Another process has removed the new content before it took the document's place."""


class FileBusyError(FileError):
    """The file kept changing while it was read."""

    code: ClassVar[str] = "unavailable"

    def __init__(self) -> None:
        super().__init__(
            "The file kept changing while it was being read.",
            hint="Call again when the program that writes it has finished.",
        )


class FileOpenError(FileError):
    """Another program has the file open, and would go on writing to the replaced version."""

    code: ClassVar[str] = "unavailable"

    def __init__(self) -> None:
        super().__init__(
            "Another program has this file open for writing, and its next change would be lost.",
            hint="Save and close the file there, then call again.",
        )


class StorageError(FileError):
    """The file system refused."""

    code: ClassVar[str] = "unavailable"


class SyncFailedError(StorageError):
    """An fsync failed; `replaced` says whether the new content is at its path."""

    def __init__(self, *, replaced: bool) -> None:
        super().__init__(
            "The disk did not confirm what was written; the document stays closed until it does."
            if replaced
            else "The disk did not confirm the new content; the document is unchanged.",
            hint="Check the disk, then send the same request again.",
        )
        self.replaced = replaced


class CopyLeftError(StorageError):
    """An edit was undone, but its copy in the history could not be removed."""

    def __init__(self) -> None:
        super().__init__(
            "The file system refused the edit. Nothing was replaced, but a copy is left in the history.",
            hint="Check the disk, then send the same request again; the next call to open the document "
            "removes the copy.",
        )


_FOREIGN = {
    errno.ELOOP: "a link is on the way",
    errno.EXDEV: "it leads out of the garden home",
    errno.ENOTDIR: "something else is in the place of a folder",
    errno.EISDIR: "a folder is in the place of a file",
    errno.ENXIO: "a special file is there",
    errno.ENODEV: "a special file is there",
}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_ACCESS = {errno.EACCES, errno.EPERM, errno.EROFS}


class _Translation:
    """Translates the errors of a block, with a third of the calls of a generator."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and isinstance(error, OSError):
            raise _translate(error.errno or errno.EIO) from None


_TRANSLATION = _Translation()


def translate_os_errors() -> AbstractContextManager[None]:
    """Turn an `OSError` into a `FileError`, without the host paths that it may name."""
    return _TRANSLATION


def _translate(number: int) -> FileError:
    if number == errno.ENOENT:
        return FileMissingError()
    if number == errno.EEXIST:
        return FileExistsAlreadyError()
    if number in _FOREIGN:
        return ForeignFileError(_FOREIGN[number])
    return StorageError(f"The file system refused: {os.strerror(number)}.", hint=_hint(number))


def _hint(number: int) -> str:
    if number in _FULL:
        return "Free some disk space or raise the quota, then call again; nothing was changed."
    if number in _ACCESS:
        return "Let the account that runs the service read and write the garden home, then call again."
    return "Check the disk, then call again."
