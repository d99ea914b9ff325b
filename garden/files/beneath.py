"""Opening below a folder's handle, without ever following a link.

A check of a name is worth nothing by the time the name is used, so nothing here checks names: the kernel
itself is told to refuse links while it walks. Where it has `openat2` it walks the whole way in one call;
elsewhere, and where a sandbox forbids that call, the walk is made component by component, each opened from
the handle of the one before.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress

Resolver = Callable[[int, Sequence[str], int], int]
"""Opens what these components lead to from a folder's handle, with these flags; gives the new handle."""

ALWAYS = os.O_CLOEXEC | os.O_NOFOLLOW
READ_FOLDER = os.O_RDONLY | os.O_DIRECTORY
# Opened so, a FIFO does not wait for its writer, and no terminal becomes ours; their status gives them away.
READ_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
LOOK = os.O_PATH

# The same on every architecture that Python's wheels are built for.
_SYS_OPENAT2 = 437
_NO_MAGIC_LINKS, _NO_LINKS, _BENEATH = 0x02, 0x04, 0x08
_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2
# What a kernel, a C library or a file system says that does not know these ways to rename.
_UNKNOWN = {errno.ENOSYS, errno.EINVAL, errno.EPERM}

_libc = ctypes.CDLL(None, use_errno=True)


def choose_resolver(home: int, *, step_by_step: bool = False) -> Resolver:
    """Choose the walk in one call where this kernel, and whatever confines this process, has it."""
    if not step_by_step:
        with suppress(OSError):
            os.close(open_at_once(home, (), LOOK))
            return open_at_once
    return open_step_by_step


def open_at_once(home: int, components: Sequence[str], flags: int) -> int:
    """Open with `openat2`; the kernel refuses every link on the way, and every way out."""
    path = "/".join(components) or "."
    how = struct.pack("QQQ", flags | ALWAYS, 0, _BENEATH | _NO_LINKS | _NO_MAGIC_LINKS)
    return _checked(_libc.syscall(_SYS_OPENAT2, home, path.encode(), how, len(how)))


def open_step_by_step(home: int, components: Sequence[str], flags: int) -> int:
    """Open one component after the other, each from the handle of its folder."""
    *folders, last = components or (".",)
    folder = home
    try:
        for name in folders:
            inner = os.open(name, LOOK | os.O_DIRECTORY | ALWAYS, dir_fd=folder)
            _close_unless(home, folder)
            folder = inner
        return os.open(last, flags | ALWAYS, dir_fd=folder)
    finally:
        _close_unless(home, folder)


def give_back(handle: int) -> None:
    """Close a handle through which nothing was written: there is nothing that closing it could lose.

    Linux closes it whatever it says of that. By then a change may stand, which must not be told as refused.
    """
    with suppress(OSError):
        os.close(handle)


def rename_new(name: str, new_name: str, folder: int, new_folder: int) -> None:
    """Rename, and fail where the new name is taken already."""
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
    """Bring a new name to the disk before the old one goes, or a power failure could leave neither."""
    try:
        os.fsync(folder)
    except OSError:
        os.unlink(name_made, dir_fd=folder)
        raise


def exchange(name: str, other: str, folder: int) -> bool:
    """Let two files of a folder change names, in one step; False where that can't be done here."""
    try:
        _rename_in_a_way(name, other, folder, folder, _RENAME_EXCHANGE)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        return False
    return True


def _rename_without_replacing(name: str, new_name: str, folder: int, new_folder: int) -> None:
    _rename_in_a_way(name, new_name, folder, new_folder, _RENAME_NOREPLACE)


def _rename_in_a_way(name: str, new_name: str, folder: int, new_folder: int, way: int) -> None:
    if not hasattr(_libc, "renameat2"):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    _checked(_libc.renameat2(folder, name.encode(), new_folder, new_name.encode(), way))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _close_unless(home: int, folder: int) -> None:
    if folder != home:
        os.close(folder)
