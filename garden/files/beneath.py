"""Opening files beneath a folder's handle, without ever following a link.

A name may change between a check and its use, so this module checks no names: the kernel refuses links while
it walks. With `openat2` it walks the whole way in one call. Where the kernel lacks that call, or a sandbox
forbids it, each component is opened from the handle of the one before.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from garden.home import platform_features

Resolver = Callable[[int, str, int], int]
"""Opens the file on this way below a folder's handle, with these flags; returns the new handle."""

ALWAYS = os.O_CLOEXEC | os.O_NOFOLLOW
READ_FOLDER = os.O_RDONLY | os.O_DIRECTORY
# A FIFO must not wait for its writer, nor a terminal become ours; their status shows what they are.
READ_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
LOOK = READ_FILE if platform_features.O_PATH is None else platform_features.O_PATH

# The same on every architecture that Python's wheels are built for.
_SYS_OPENAT2 = 437
_NO_MAGIC_LINKS, _NO_LINKS, _BENEATH = 0x02, 0x04, 0x08
_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2
# The errors of a kernel, C library or file system that does not support these renames.
_UNKNOWN = {errno.ENOSYS, errno.EINVAL, errno.EPERM}

_libc = ctypes.CDLL(None, use_errno=True)
_HOW = {
    flags: struct.pack("QQQ", flags | ALWAYS, 0, _BENEATH | _NO_LINKS | _NO_MAGIC_LINKS)
    for flags in (READ_FOLDER, READ_FILE, LOOK)
}


class Handle(int):
    """An open file or folder, which the end of a `with` block closes."""

    def __enter__(self) -> int:
        return self

    def __exit__(self, *_: object) -> None:
        close_quietly(self)


class Handles(list[int]):
    """Open files and folders, which the end of a `with` block closes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self:
            close_quietly(self.pop())


def choose_resolver(home: int, *, step_by_step: bool = False) -> Resolver:
    """Choose the walk in one call if the kernel has it and no sandbox forbids it."""
    if platform_features.HAS_OPENAT2 and not step_by_step:
        with suppress(OSError):
            os.close(open_at_once(home, "", LOOK))
            return open_at_once
    return open_step_by_step


def open_at_once(home: int, way: str, flags: int) -> int:
    """Open with `openat2`; the kernel refuses every link on the way, and every path that leads out."""
    how = _HOW[flags]
    return _check_result(_libc.syscall(_SYS_OPENAT2, home, way.encode() or b".", how, len(how)))


def open_step_by_step(home: int, way: str, flags: int) -> int:
    """Open one component after another, each from the handle of its folder."""
    *folders, last = way.split("/")
    folder = home
    try:
        for name in folders:
            inner = os.open(name, LOOK | os.O_DIRECTORY | ALWAYS, dir_fd=folder)
            _close_unless_home(home, folder)
            folder = inner
        return os.open(last or ".", flags | ALWAYS, dir_fd=folder)
    finally:
        _close_unless_home(home, folder)


def close_quietly(handle: int) -> None:
    """Close a handle that wrote nothing, and ignore errors.

    Linux closes the handle even if it reports an error. By then an edit may be done, and must not be answered
    as refused.
    """
    try:  # noqa: SIM105 - this runs for every handle, and `suppress` takes three calls more
        os.close(handle)
    except OSError:
        pass


def rename_new(name: str, new_name: str, folder: int, new_folder: int) -> None:
    """Rename, and fail if the new name is taken."""
    try:
        _rename_without_replacing(name, new_name, folder, new_folder)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        os.link(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder, follow_symlinks=False)
        if folder != new_folder:
            _confirm(name_made=new_name, folder=new_folder)
        os.unlink(name, dir_fd=folder)


def _confirm(name_made: str, folder: int) -> None:
    """Sync a new name before the old one goes, or a power failure could leave neither."""
    try:
        os.fsync(folder)
    except OSError:
        os.unlink(name_made, dir_fd=folder)
        raise


def exchange(name: str, other: str, folder: int) -> bool:
    """Exchange the names of two files in a folder, in one step; False if the system can't."""
    try:
        _rename_with_flag(name, other, folder, folder, _RENAME_EXCHANGE)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        return False
    return True


def _rename_without_replacing(name: str, new_name: str, folder: int, new_folder: int) -> None:
    _rename_with_flag(name, new_name, folder, new_folder, _RENAME_NOREPLACE)


def _rename_with_flag(name: str, new_name: str, folder: int, new_folder: int, flag: int) -> None:
    if not platform_features.HAS_RENAME_FLAGS:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    _check_result(_libc.renameat2(folder, name.encode(), new_folder, new_name.encode(), flag))


def _check_result(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _close_unless_home(home: int, folder: int) -> None:
    if folder != home:
        os.close(folder)
