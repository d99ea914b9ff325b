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
    """The free space of the home's disk, asked anew each time, so that writing goes on by itself."""

    def __init__(self, home: Path, floor_bytes: int) -> None:
        self._home = home
        self._floor_bytes = floor_bytes

    @property
    def free_bytes(self) -> int:
        """How much this process may still write."""
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
        """Whether there is too little."""
        return self.free_bytes < self._floor_bytes

    def check(self) -> None:
        """Refuse to write where there is too little: what was begun could not be brought to its end."""
        if self.is_low:
            raise DiskFullError(
                f"The disk has {self.free_bytes // _MEBIBYTE} MiB left, less than the limit of "
                f"{self._floor_bytes // _MEBIBYTE} MiB, so no tool writes; everything can be read.",
                hint="Free some space, or lower GARDEN_LIMITS_FREE_DISK_BYTES; writing goes on by itself.",
            )
