"""How much the gardens take on the disk, counted aside, so that no page waits for a large one."""

import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import NamedTuple

from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath

_KEPT_SECONDS = 300
_WAITED_SECONDS = 0.03
_USERS_MAX = 1000


class Storage(NamedTuple):
    """The files of a garden and of its history, and their bytes."""

    files: int
    file_bytes: int
    copies: int
    copy_bytes: int


class StorageCounts:
    """Counts the files of one user at a time, in a thread of its own, and keeps each count for a while."""

    def __init__(self, files: GardenFiles) -> None:
        self._files = files
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="garden-storage")
        self._counts: dict[str, tuple[float, Future[Storage]]] = {}

    def of(self, user_id: str) -> Storage | None:
        """A user's files as they were counted last; None while they are being counted."""
        begun, count = self._counts.get(user_id, (0.0, None))
        if count is None or (count.done() and time.monotonic() - begun > _KEPT_SECONDS):
            if len(self._counts) >= _USERS_MAX:
                self._counts.clear()
            count = self._thread.submit(self._count, user_id)
            self._counts[user_id] = time.monotonic(), count
        wait([count], _WAITED_SECONDS)
        return count.result() if count.done() and not count.exception() else None

    def close(self) -> None:
        """Begin no further count."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _count(self, user_id: str) -> Storage:
        found: list[int] = []
        for root in ("users", "history"):
            folders = list(self._files.usage(GardenPath(f"{root}/{user_id}")))
            found += sum(count for count, _ in folders), sum(size for _, size in folders)
        return Storage(*found)
