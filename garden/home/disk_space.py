"""Free disk space: while there is too little, documents can be read and nothing is written."""

import os
from pathlib import Path

from garden.grammar.errors import GardenError

_MEBIBYTE = 1024 * 1024


class DiskFullError(GardenError):
    """The disk is nearly full."""

    code = "unavailable"


class DiskUnreadableError(GardenError):
    """The free space of the disk can't be read."""

    code = "unavailable"


class DiskSpace:
    """The free space on the home's disk, read each time, so that writing resumes by itself."""

    def __init__(self, home: Path, floor_bytes: int) -> None:
        self._home = home
        self._floor_bytes = floor_bytes

    @property
    def free_bytes(self) -> int:
        """The bytes that this process may still write."""
        try:
            status = os.statvfs(self._home)
        except OSError as error:
            raise DiskUnreadableError(
                f"The garden home can't be reached: {error.strerror}.",
                hint="Check the disk, then call again.",
            ) from None
        return status.f_bavail * status.f_frsize

    @property
    def is_low(self) -> bool:
        """Whether the free space is below the limit."""
        return self.free_bytes < self._floor_bytes

    def check(self) -> None:
        """Refuse to write if there is too little: a change might be interrupted halfway."""
        if self.is_low:
            raise DiskFullError(
                f"The disk has {self.free_bytes // _MEBIBYTE} MiB left, less than the limit of "
                f"{self._floor_bytes // _MEBIBYTE} MiB. Tools can read, but not write.",
                hint="Free some space, or lower GARDEN_LIMITS_FREE_DISK_BYTES. Writing resumes by itself.",
            )
