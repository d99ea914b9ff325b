"""What can go wrong with a file, as errors that a caller understands; none of them names a host path."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from garden.grammar.errors import GardenError


class FileError(GardenError):
    """A document, a folder or a copy can't be used as it stands on the disk."""


class FileMissingError(FileError):
    """There is nothing at this path."""

    code: ClassVar[str] = "not_found"

    def __init__(self) -> None:
        super().__init__(
            "There is nothing at this path.", hint="See what there is with fs.list; create with md.plant."
        )


class ForeignFileError(FileError):
    """Something else stands where a plain file or a folder of the garden belongs."""

    code: ClassVar[str] = "path_not_allowed"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"This path is not allowed: {what}.",
            hint="A garden consists of folders and plain files; links, hard links and special files are not "
            "followed. Put the file itself in its place.",
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
            f"A document is text in UTF-8, and this has {what} at byte {offset}.",
            hint="Save the file as UTF-8 text. If it never was any, put it aside, and have md.restore "
            "('garden restore') make the document anew.",
            details={"offset": offset},
        )


class FileExistsAlreadyError(FileError):
    """Something stands there already, and creating never overwrites."""

    code: ClassVar[str] = "already_exists"

    def __init__(self) -> None:
        super().__init__(
            "Something stands at this path already.",
            hint="Read it first, then change it; or choose another path.",
        )


class FileChangedError(FileError):
    """The file is not what it was when the change was planned."""

    code: ClassVar[str] = "precondition_failed"

    def __init__(self, current: str | None = None) -> None:
        super().__init__(
            "The file has changed since it was read; nothing was written.",
            hint="Read it again, and make the change to what it says now.",
            details={"currentHash": current} if current else {},
        )


class FileBusyError(FileError):
    """The file kept changing while it was read."""

    code: ClassVar[str] = "unavailable"

    def __init__(self) -> None:
        super().__init__(
            "The file kept changing while it was being read.",
            hint="Call again when whoever writes it is done.",
        )


class FileOpenError(FileError):
    """A program has the file open for writing, and would go on writing to what is no document any more."""

    code: ClassVar[str] = "unavailable"

    def __init__(self) -> None:
        super().__init__(
            "Another program has this file open for writing; what it writes next would be lost.",
            hint="Save and close the file there, then call again.",
        )


class StorageError(FileError):
    """The file system refused."""

    code: ClassVar[str] = "unavailable"


class SyncFailedError(StorageError):
    """What was written may not have reached the disk; `replaced` tells whether it stands at its path."""

    def __init__(self, *, replaced: bool) -> None:
        super().__init__(
            "The disk did not confirm what was written; the document stays closed until it does."
            if replaced
            else "The disk did not confirm what was to be put in place; the document is as it was.",
            hint="Check the disk, then send the same request again.",
        )
        self.replaced = replaced


class CopyLeftError(StorageError):
    """A change was given up, and the copy made for it in the history could not be taken away again."""

    def __init__(self) -> None:
        super().__init__(
            "The file system refused the change; nothing was replaced, and a copy is left in the history.",
            hint="Check the disk, then send the same request again; whoever opens the document next takes "
            "the copy away.",
        )


_FOREIGN = {
    errno.ELOOP: "a link stands on the way",
    errno.EXDEV: "it leads out of the garden home",
    errno.ENOTDIR: "a folder belongs where something else stands",
    errno.EISDIR: "a folder stands where a file belongs",
    errno.ENXIO: "a special file stands there",
    errno.ENODEV: "a special file stands there",
}
_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_ACCESS = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextmanager
def translated() -> Iterator[None]:
    """Turn what the system says into an error of ours, without the host paths that it may name."""
    try:
        yield
    except OSError as error:
        raise _translate(error.errno or errno.EIO) from None


def _translate(number: int) -> FileError:
    if number == errno.ENOENT:
        return FileMissingError()
    if number == errno.EEXIST:
        return FileExistsAlreadyError()
    if number in _FOREIGN:
        return ForeignFileError(_FOREIGN[number])
    return StorageError(f"The file system refused: {os.strerror(number)}.", hint=_way_out(number))


def _way_out(number: int) -> str:
    if number in _ROOM:
        return "Make room on the disk or raise the quota, then call again; nothing was changed."
    if number in _ACCESS:
        return "Let the account that runs the service read and write the garden home, then call again."
    return "Check the disk, then call again."
