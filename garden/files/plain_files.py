"""Plain files in an open folder: read, written, replaced and kept.

Functions take handles, and names within a handle's folder; there are no paths here.
"""

import errno
import fcntl
import os
import re
import signal
import stat
import sys
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from types import TracebackType
from typing import NamedTuple, Self

from garden.files.beneath import ALWAYS, READ_FILE, Handle, close_quietly, exchange, rename_new
from garden.files.errors import (
    CopyLeftError,
    FileBusyError,
    FileChangedError,
    FileExistsAlreadyError,
    FileOpenError,
    FileTooLargeError,
    ForeignFileError,
    NotTextError,
    SyncFailedError,
)
from garden.grammar.canonical import raw_hash
from garden.home import platform_features

SIZE_MAX_BYTES = 1 << 20
READ_ATTEMPTS_MAX = 5
_PATTERNS_MAX = 256

Identity = tuple[int, int]


class FileStamp(NamedTuple):
    """A file's identity, size and times; writing, renaming or linking the file changes its stamp."""

    identity: Identity
    size_bytes: int
    written_ns: int
    changed_ns: int


_FRESH = ".new-"
# Each exchange more needs one more save by another program within the time of a system call.
_EXCHANGES_MAX = 100
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_UNLINKABLE = {errno.EPERM, errno.EXDEV, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOTSUP}


def identity_of(status: os.stat_result) -> Identity:
    """Identify a file under any name."""
    return status.st_dev, status.st_ino


def stamp_of(status: os.stat_result) -> FileStamp:
    """Make a stamp of a file's status."""
    identity = status.st_dev, status.st_ino
    return FileStamp(identity, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def time_of(ns: int) -> datetime:
    """The time that a file system has in nanoseconds."""
    return datetime.fromtimestamp(ns / 1e9, UTC)


def touched_at(stamp: FileStamp) -> datetime:
    """When a file was last written, renamed or linked; only a wrong clock can falsify it."""
    return time_of(max(stamp.changed_ns, stamp.written_ns))


def status_in(folder: int, name: str) -> os.stat_result:
    """Read the status of a name itself, not of the target of a link."""
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def names_in(folder: int, wanted: re.Pattern[str]) -> list[str]:
    """List the names in this folder that match."""
    return [name for name in os.listdir(folder) if wanted.fullmatch(name)]


def remove_in(folder: int, wanted: re.Pattern[str]) -> int:
    """Remove the files of this folder whose names match; returns how many were removed."""
    removed = 0
    for name in names_in(folder, wanted):
        # A writer that gives up removes its own.
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
            removed += 1
    return removed


def check_type(status: os.stat_result, *, folder: bool) -> None:
    """Refuse anything but a folder, or anything but a plain file."""
    if folder and not stat.S_ISDIR(status.st_mode):
        raise ForeignFileError("something else is in the place of a folder")
    if not folder and not stat.S_ISREG(status.st_mode):
        raise ForeignFileError("it is not a plain file")


def check_content(content: bytes, bytes_max: int = SIZE_MAX_BYTES) -> str:
    """Decode a document's bytes, every line end unchanged, or refuse them."""
    if len(content) > bytes_max:
        raise FileTooLargeError(bytes_max)
    zero = content.find(0)
    if zero >= 0:
        raise NotTextError("a zero byte", zero)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotTextError("no valid UTF-8", error.start) from None


def open_in(folder: int, name: str) -> Handle:
    """Open a file of this folder for reading, without waiting and without following a link."""
    return Handle(os.open(name, READ_FILE | ALWAYS, dir_fd=folder))


def open_to_replace(folder: int, name: str) -> Handle:
    """Open a file of this folder for `check_not_open` and for reading.

    A program that opens the file meanwhile waits for the release of the lease; SIGURG, the notice of that, is
    harmless.
    """
    handle = open_in(folder, name)
    if sys.platform == "linux" and platform_features.HAS_LEASES:
        with suppress(OSError):
            fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
    return handle


def read_stable(handle: int, status: os.stat_result | None = None) -> tuple[bytes, os.stat_result]:
    """Read a file in one unchanging state; returns the content and the status then.

    A caller that has just read the file's `status` passes it on.
    """
    after = status or os.fstat(handle)
    for _ in range(READ_ATTEMPTS_MAX):
        before = after
        if before.st_size > SIZE_MAX_BYTES:
            raise FileTooLargeError(SIZE_MAX_BYTES)
        # One byte more than expected shows that the file has grown.
        content = os.pread(handle, before.st_size + 1, 0)
        after = os.fstat(handle)
        if len(content) == before.st_size and _state(before) == _state(after):
            return content, after
    raise FileBusyError


def read_expected(handle: int, expected: str) -> tuple[bytes, os.stat_result]:
    """Read a file that must have this hash; returns the content, and the status for `check_unchanged`."""
    status = os.fstat(handle)
    content = os.pread(handle, min(status.st_size, SIZE_MAX_BYTES) + 1, 0)
    if raw_hash(content) != expected:
        raise FileChangedError(raw_hash(read_stable(handle)[0]))
    return content, status


def check_unchanged(status: os.stat_result, folder: int, name: str) -> None:
    """Refuse to go on unless the name still leads to the file with this status."""
    if _state(status_in(folder, name)) != _state(status):
        raise FileChangedError


def check_not_open(handle: int) -> None:
    """Refuse a file that a program has open for writing, which would go on writing to the replaced version.

    The kernel grants a read lease only on a file that no program has open for writing. The lease is released
    at once. If the owner, file system or kernel allows no lease, the check is skipped.
    """
    if not platform_features.HAS_LEASES:
        return
    try:
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        raise FileOpenError from None
    except OSError:
        return
    fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)


class FreshFile:
    """A temporary file that is to take a document's place, written and not yet synced.

    An error in its `with` block removes it. Another file that an exchange of names left under its name stays:
    it may be a person's.
    """

    def __init__(self, folder: int, name: str, content: bytes, *, like: os.stat_result | None = None) -> None:
        self.name = f"{_FRESH}{name}-{os.urandom(8).hex()}"
        self._folder = folder
        self._is_open = True
        self.handle = os.open(self.name, _CREATE | ALWAYS, 0o600, dir_fd=folder)
        try:
            _write_all(self.handle, content)
            self.status = os.fstat(self.handle)
            if like is not None:
                _make_like(self.handle, self.status, like)
        except BaseException:
            with suppress(OSError):
                os.unlink(self.name, dir_fd=folder)
            close_quietly(self.handle)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            with suppress(OSError, FileChangedError):
                check_unchanged(self.status, self._folder, self.name)
                os.unlink(self.name, dir_fd=self._folder)
        if self._is_open:
            self._is_open = False
            close_quietly(self.handle)

    def close(self) -> None:
        """Close the file before others may replace it: they would refuse one that is open for writing."""
        if self._is_open:
            self._is_open = False
            os.close(self.handle)


def put_in_place(fresh: FreshFile, name: str, status: os.stat_result, folder: int) -> None:
    """Put a fresh file in the place of the one with this status, unless another program has replaced that.

    The two exchange names before the old one is checked a last time and goes, so a file that a person saved
    at the last moment comes back to its place. Without an exchange, a save between the two steps is lost.
    """
    if not exchange(fresh.name, name, folder):
        check_unchanged(status, folder, name)
        os.rename(fresh.name, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    try:
        check_unchanged(status, folder, fresh.name)
    except (FileChangedError, OSError):
        _put_back(fresh, name, folder)
        raise
    # The edit is done. An old file that can't be removed is a stray, which the next write removes.
    with suppress(OSError):
        os.unlink(fresh.name, dir_fd=folder)


def _put_back(fresh: FreshFile, name: str, folder: int) -> None:
    """Exchange names until the file that comes out is the one that went in before.

    Any other file was saved in between: it is newer than the one just put back, and takes its place.
    """
    put_last = _state(fresh.status)
    try:
        for _ in range(_EXCHANGES_MAX):
            put_now = _state(status_in(folder, fresh.name))
            exchange(fresh.name, name, folder)
            if _state(status_in(folder, fresh.name)) == put_last:
                return
            put_last = put_now
    except OSError:
        # The new content may be in place after all, so the edit must not be answered as failed.
        raise SyncFailedError(replaced=True) from None


def _state(status: os.stat_result) -> tuple[int, int, int, int]:
    # Not the change time, which a hard link alters.
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@lru_cache(_PATTERNS_MAX)
def stray_pattern(name: str = ".*") -> re.Pattern[str]:
    """The pattern of the temporary files for this name."""
    wanted = name if name == ".*" else re.escape(name)
    return re.compile(rf"{re.escape(_FRESH)}{wanted}-[0-9a-f]{{16}}")


def target_name(fresh: str) -> str:
    """Give the name that a temporary file was meant to get."""
    return fresh.removeprefix(_FRESH).rpartition("-")[0]


def renew_name(folder: int, name: str) -> None:
    """Rename a file away and back, so that syncing the folder writes the name again."""
    fresh = f"{_FRESH}{name}-{os.urandom(8).hex()}"
    os.rename(name, fresh, src_dir_fd=folder, dst_dir_fd=folder)
    os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)


def write_new(folder: int, name: str, content: bytes) -> None:
    """Write a file where there must be none yet; the caller syncs the folder."""
    with FreshFile(folder, name, content) as fresh:
        sync(fresh.handle, replaced=False)
        rename_new(fresh.name, name, folder, folder)


def remove_copy(history: int, copy: str) -> None:
    """Remove a copy of a version that was not replaced after all."""
    try:
        os.unlink(copy, dir_fd=history)
    except OSError:
        raise CopyLeftError from None


def keep_copy(
    folder: int, name: str, status: os.stat_result, content: bytes, history: int, copy: str
) -> bool:
    """Keep a file in the history as `copy`; False if it was there already."""
    try:
        os.link(name, copy, src_dir_fd=folder, dst_dir_fd=history, follow_symlinks=False)
    except FileExistsError:
        # A killed writer of the same event may have left it; anything else is not ours.
        if identity_of(status_in(history, copy)) == identity_of(status):
            return False
        raise FileExistsAlreadyError from None
    except OSError as error:
        if error.errno not in _UNLINKABLE:
            raise
        write_new(history, copy, content)
    return True


def sync(handle: int, *, replaced: bool) -> None:
    """Sync a handle. A failure is final: the kernel forgets it, so a second try would falsely succeed."""
    try:
        platform_features.flush_drive(handle)
        os.fsync(handle)
    except OSError:
        raise SyncFailedError(replaced=replaced) from None


def _write_all(handle: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]


def _make_like(handle: int, status: os.stat_result, like: os.stat_result) -> None:
    mode = stat.S_IMODE(like.st_mode) & 0o777
    if mode != 0o600:
        os.fchmod(handle, mode)
    if (like.st_uid, like.st_gid) != (status.st_uid, status.st_gid):
        # Only root may keep the owner; otherwise the file becomes the service's.
        with suppress(PermissionError):
            os.fchown(handle, like.st_uid, like.st_gid)
