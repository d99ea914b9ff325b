"""What this system offers beyond POSIX. Where a feature is missing, its user takes a portable way."""

import ctypes
import errno
import fcntl
import os
import sys

HAS_OPENAT2 = sys.platform == "linux"
"""Walks a whole path in one call; else each component is opened from the folder before."""
HAS_RENAME_FLAGS = hasattr(ctypes.CDLL(None), "renameat2")
"""Exchanges names, and renames without replacing; else the old name is checked, then replaced."""
HAS_LEASES = hasattr(fcntl, "F_SETLEASE")
"""Tell whether a program has a file open for writing; else that check is skipped."""
O_PATH: int | None = getattr(os, "O_PATH", None)
"""Opens a file without the right to read it; else it is opened for reading."""
HAS_ACLS = hasattr(os, "setxattr")
"""Let one account pass a folder; else root can't start the embedded Postgres."""
FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)
"""Makes the drive write its cache, where fsync does not, as on macOS."""

_HAS_NO_CACHE = {errno.ENOTSUP, errno.EINVAL, errno.ENOTTY}


def flush_drive(handle: int) -> None:
    """Make the drive write its cache where fsync does not; the caller calls fsync as well."""
    if FULL_SYNC is None:
        return
    try:
        fcntl.fcntl(handle, FULL_SYNC)
    except OSError as error:
        # A file system that does not know the call, as on a network.
        if error.errno not in _HAS_NO_CACHE:
            raise
