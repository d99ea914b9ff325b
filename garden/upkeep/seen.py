"""Files that need not be read again, because they have not changed since they were found in step."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from garden.files.plain_files import FileStamp

SETTLED_SECONDS = 120.0
AGAIN_SECONDS = 24 * 60 * 60.0
_SEEN_MAX = 100_000
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class _SeenFile:
    look: FileStamp
    version: int
    raw_hash: str
    at: float


class Seen:
    """The files this process found in step, by path.

    No program can set a file's change time, so a changed file looks different. The exception is a change just
    after the read: the times may be too coarse to show it, and a process that has the file mapped into memory
    may write for half a minute under one time. So a look counts only if the last change was long past when
    the file was read. Clocks can be set back, and some file systems keep no change time; so no look counts
    for more than a day.
    """

    def __init__(
        self, settled_seconds: float = SETTLED_SECONDS, again_seconds: float = AGAIN_SECONDS
    ) -> None:
        self._settled_ns = int(settled_seconds * _NANOSECONDS)
        self._again_seconds = again_seconds
        self._files: dict[str, _SeenFile] = {}

    def is_in_step(self, path: str, look: FileStamp, head: Mapping[str, Any]) -> bool:
        """Whether the file with this look was read, and held this head."""
        found = self._files.get(path)
        return (
            found is not None
            and (found.look, found.version, found.raw_hash) == (look, head["version"], head["raw_hash"])
            and time.monotonic() - found.at < self._again_seconds
        )

    def remember(self, path: str, look: FileStamp, head: Mapping[str, Any], read_at_ns: int) -> None:
        """Remember that the file, read at this time, held this head."""
        is_settled = read_at_ns - max(look.changed_ns, look.written_ns) >= self._settled_ns
        if is_settled and (path in self._files or len(self._files) < _SEEN_MAX):
            self._files[path] = _SeenFile(look, head["version"], head["raw_hash"], time.monotonic())
