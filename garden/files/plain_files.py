"""What is done with plain files inside a folder whose handle is open already.

Everything is said of handles, and of single names in a handle's folder; there are no paths here.
"""

import errno
import fcntl
import os
import re
import secrets
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple

from garden.files.beneath import ALWAYS, READ_FILE, exchange, give_back, rename_new
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

SIZE_MAX_BYTES = 1 << 20
READ_ATTEMPTS_MAX = 5

Identity = tuple[int, int]


class Look(NamedTuple):
    """What a file looks like from outside; one that is written to, renamed or linked looks different."""

    identity: Identity
    size_bytes: int
    written_ns: int
    changed_ns: int


_FRESH = ".new-"
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_HAS_LEASES = hasattr(fcntl, "F_SETLEASE")
_UNLINKABLE = {errno.EPERM, errno.EXDEV, errno.EMLINK, errno.EOPNOTSUPP}


def raw_hash(content: bytes) -> str:
    """Hash a file's bytes as they are: `sha256:<64 hex>`."""
    return f"sha256:{sha256(content).hexdigest()}"


def identity_of(status: os.stat_result) -> Identity:
    """Tell which file this is, whatever it is called."""
    return status.st_dev, status.st_ino


def look_of(status: os.stat_result) -> Look:
    """Tell what a file looks like."""
    return Look(identity_of(status), status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def touched_at(status: os.stat_result) -> datetime:
    """Tell when a file was last written, renamed or linked; that can't be set back, but for the clock."""
    return datetime.fromtimestamp(max(status.st_ctime_ns, status.st_mtime_ns) / 1e9, UTC)


def status_in(folder: int, name: str) -> os.stat_result:
    """Ask about a name itself, not about what a link leads to."""
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def names_in(folder: int, wanted: re.Pattern[str]) -> list[str]:
    """List the names in this folder that are of this form."""
    return [name for name in os.listdir(folder) if wanted.fullmatch(name)]


def check_type(status: os.stat_result, *, folder: bool) -> None:
    """Refuse everything but a folder, or everything but a plain file."""
    if folder and not stat.S_ISDIR(status.st_mode):
        raise ForeignFileError("a folder belongs where something else stands")
    if not folder and not stat.S_ISREG(status.st_mode):
        raise ForeignFileError("something stands there that is no plain file")


def check_content(content: bytes, bytes_max: int = SIZE_MAX_BYTES) -> str:
    """Give the text of a document's bytes, every line end as it is."""
    if len(content) > bytes_max:
        raise FileTooLargeError(bytes_max)
    zero = content.find(0)
    if zero >= 0:
        raise NotTextError("a zero byte", zero)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotTextError("no valid UTF-8", error.start) from None


@contextmanager
def opened_in(folder: int, name: str) -> Iterator[int]:
    """Open a file of this folder for reading; nothing waits, and a link is not followed."""
    handle = os.open(name, READ_FILE | ALWAYS, dir_fd=folder)
    try:
        yield handle
    finally:
        give_back(handle)


def whole_content(handle: int) -> tuple[bytes, os.stat_result]:
    """Read a file while it stands still, and give its status of that time."""
    for _ in range(READ_ATTEMPTS_MAX):
        before = os.fstat(handle)
        if before.st_size > SIZE_MAX_BYTES:
            raise FileTooLargeError(SIZE_MAX_BYTES)
        # One byte more than there should be shows a file that has grown.
        content = os.pread(handle, before.st_size + 1, 0)
        after = os.fstat(handle)
        if len(content) == before.st_size and _state(before) == _state(after):
            return content, after
    raise FileBusyError


def expected_content(handle: int, expected: str) -> tuple[bytes, os.stat_result]:
    """Read a file that must have this hash."""
    content, status = whole_content(handle)
    current = raw_hash(content)
    if current != expected:
        raise FileChangedError(current)
    return content, status


def check_still(status: os.stat_result, folder: int, name: str) -> None:
    """Refuse to go on unless the name stands for the file with this status, unchanged."""
    if _state(status_in(folder, name)) != _state(status):
        raise FileChangedError


def check_not_open(handle: int) -> None:
    """Refuse a file that a program has open for writing: it would write on where nobody looks any more.

    A lease for reading is granted on what nobody writes, and given back at once. Whoever gets none because of
    the file's owner, its file system or the kernel knows no more than before.
    """
    if not _HAS_LEASES:
        return
    try:
        # Who opens it in this very moment waits until it is given back; this signal of that harms nobody.
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        raise FileOpenError from None
    except OSError:
        return
    fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def put_in_place(fresh: str, name: str, status: os.stat_result, folder: int) -> None:
    """Put a fresh file in the place of the one with this status, unless somebody puts another there first.

    The two change names before the old one is looked at for the last time and goes: so what somebody saves by
    hand, however late, comes back to its place. Where names can't be exchanged the time to do harm is short.
    """
    if not exchange(fresh, name, folder):
        check_still(status, folder, name)
        os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    try:
        check_still(status, folder, fresh)
    except (FileChangedError, OSError):
        _put_back(fresh, name, folder)
        raise
    # The change stands by now. What can't be taken away is a stray, and goes with the next write.
    with suppress(OSError):
        os.unlink(fresh, dir_fd=folder)


def _put_back(fresh: str, name: str, folder: int) -> None:
    try:
        exchange(fresh, name, folder)
    except OSError:
        # It stands there after all, so it must not be told as one that did not happen.
        raise SyncFailedError(replaced=True) from None


def _state(status: os.stat_result) -> tuple[Identity, int, int]:
    # Without the change time, which a hard link alters.
    return identity_of(status), status.st_size, status.st_mtime_ns


@contextmanager
def fresh_file(
    folder: int, name: str, content: bytes, *, like: os.stat_result | None = None
) -> Iterator[str]:
    """Write a temporary file, durably; it is gone after an error, so rename it inside the block."""
    fresh = f"{_FRESH}{name}-{secrets.token_hex(8)}"
    handle = os.open(fresh, _CREATE | ALWAYS, 0o600, dir_fd=folder)
    try:
        try:
            _write_all(handle, content)
            if like is not None:
                _make_like(handle, like)
            sync(handle, replaced=False)
        finally:
            os.close(handle)
        yield fresh
    except BaseException:
        with suppress(OSError):
            os.unlink(fresh, dir_fd=folder)
        raise


def fresh_names(name: str = ".*") -> re.Pattern[str]:
    """What the temporary files for this name are called."""
    wanted = name if name == ".*" else re.escape(name)
    return re.compile(rf"{re.escape(_FRESH)}{wanted}-[0-9a-f]{{16}}")


def named_for(fresh: str) -> str:
    """Give the name that a temporary file was to have."""
    return fresh.removeprefix(_FRESH).rpartition("-")[0]


def rename_anew(folder: int, name: str) -> None:
    """Give a file the name that it has, so that the folder has something to write again."""
    fresh = f"{_FRESH}{name}-{secrets.token_hex(8)}"
    os.rename(name, fresh, src_dir_fd=folder, dst_dir_fd=folder)
    os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)


def write_new(folder: int, name: str, content: bytes) -> None:
    """Write a file where there must be none yet; the folder is for the caller to sync."""
    with fresh_file(folder, name, content) as fresh:
        rename_new(fresh, name, folder, folder)


@contextmanager
def kept(
    folder: int, name: str, status: os.stat_result, content: bytes, history: int, copy: str
) -> Iterator[None]:
    """Keep the file of this name and status in the history; undone if the block replaces nothing."""
    made = _link_or_copy(folder, name, status, content, history, copy)
    try:
        yield
    except BaseException as error:
        stands = isinstance(error, SyncFailedError) and error.replaced
        if made and not stands:
            _take_away(history, copy)
        raise


def _take_away(history: int, copy: str) -> None:
    try:
        os.unlink(copy, dir_fd=history)
    except OSError:
        raise CopyLeftError from None


def _link_or_copy(
    folder: int, name: str, status: os.stat_result, content: bytes, history: int, copy: str
) -> bool:
    try:
        os.link(name, copy, src_dir_fd=folder, dst_dir_fd=history, follow_symlinks=False)
    except FileExistsError:
        # Left by a writer of the same event that was killed, or by nobody we know.
        if identity_of(status_in(history, copy)) == identity_of(status):
            return False
        raise FileExistsAlreadyError from None
    except OSError as error:
        if error.errno not in _UNLINKABLE:
            raise
        write_new(history, copy, content)
    return True


def sync(handle: int, *, replaced: bool) -> None:
    """Wait until the disk has it. A failure is final: the kernel forgets it, so a second try would lie."""
    try:
        os.fsync(handle)
    except OSError:
        raise SyncFailedError(replaced=replaced) from None


def _write_all(handle: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]


def _make_like(handle: int, status: os.stat_result) -> None:
    mode = stat.S_IMODE(status.st_mode) & 0o777
    if mode != 0o600:
        os.fchmod(handle, mode)
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        # Only root may give a file to the person whose garden it is; for others it becomes the service's.
        with suppress(PermissionError):
            os.fchown(handle, status.st_uid, status.st_gid)
