"""Which files need not be read again: those that stand as they stood when they were what the account says."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from garden.files.plain_files import Look

SETTLED_SECONDS = 120.0
AGAIN_SECONDS = 24 * 60 * 60.0
_SEEN_MAX = 100_000
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class _Found:
    look: Look
    version: int
    raw_hash: str
    at: float


class Seen:
    """What was found of files, for as long as the process lives.

    The time of a file's last change can't be set by anybody, so a file that was changed looks different. That
    is not so for one changed a moment after it was read: its times may be too coarse to show it, and whoever
    has it mapped into memory changes it for half a minute under one time. Therefore a look counts only where
    the last change was long over when the file was read. And as a clock can be set back, and some file
    systems keep no such time, nothing counts for more than a day.
    """

    def __init__(
        self, settled_seconds: float = SETTLED_SECONDS, again_seconds: float = AGAIN_SECONDS
    ) -> None:
        self._settled_ns = int(settled_seconds * _NANOSECONDS)
        self._again_seconds = again_seconds
        self._found: dict[str, _Found] = {}

    def is_in_step(self, path: str, look: Look, head: Mapping[str, Any]) -> bool:
        """Whether this file was read, and what it holds is this head of the account."""
        found = self._found.get(path)
        return (
            found is not None
            and (found.look, found.version, found.raw_hash) == (look, head["version"], head["raw_hash"])
            and time.monotonic() - found.at < self._again_seconds
        )

    def was_in_step(self, path: str, look: Look, head: Mapping[str, Any], read_at_ns: int) -> None:
        """Remember that a file that was read at this time of the clock holds this head."""
        is_settled = read_at_ns - max(look.changed_ns, look.written_ns) >= self._settled_ns
        if is_settled and (path in self._found or len(self._found) < _SEEN_MAX):
            self._found[path] = _Found(look, head["version"], head["raw_hash"], time.monotonic())
