"""What the processes of one service share: a folder, and counts that all of them read."""

import mmap
import socket
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path

_SLOTS = 1 << 16
_KINDS = ("bodies", "calls", "streams", "sessions", "connections")
# A kind's slots are its own: bytes must not count as calls.
_FIRST_SLOTS = {kind: at * _SLOTS for at, kind in enumerate(_KINDS)}
_ROW_BYTES = 8 * _SLOTS * len(_KINDS)

READY, STOP, RETIRE = b"+", b"-", b"~"
"""What a process and its parent say to each other; the end of the line means that the other one is gone."""

Name = tuple[str, *tuple[Hashable, ...]]


class SharedCounts:
    """Counts by name: a process adds to its own row and reads the sum of all; made before they are forked.

    A name begins with its kind. Its slot is one of the kind's, by Python's salted hash, so that no caller can
    choose a name that shares another's slot.
    """

    def __init__(self, processes: int = 1) -> None:
        self._rows = [memoryview(mmap.mmap(-1, _ROW_BYTES)).cast("q") for _ in range(processes)]
        self._own = self._rows[0]

    def join(self, number: int) -> None:
        """Add to this row from now on."""
        self._own = self._rows[number]

    def clear(self, number: int) -> None:
        """Forget the counts of a process that is gone."""
        self._rows[number][:] = memoryview(bytes(_ROW_BYTES)).cast("q")

    def add(self, name: Name, change: int) -> None:
        """Change this process's count."""
        self._own[_slot(name)] += change

    def own(self, name: Name) -> int:
        """Return the count of this process."""
        return self._own[_slot(name)]

    def total(self, name: Name) -> int:
        """Return the count of all processes."""
        slot = _slot(name)
        return sum([row[slot] for row in self._rows])


def _slot(name: Name) -> int:
    return _FIRST_SLOTS[name[0]] + hash(name) % _SLOTS


@dataclass(frozen=True)
class ServiceProcess:
    """One process of a service; the only one of a service has no folder and no parent."""

    announce: Callable[[], object] = lambda: None
    """Called once it answers."""
    number: int = 0
    count: int = 1
    counts: SharedCounts = field(default_factory=SharedCounts)
    folder: Path | None = None
    parent: socket.socket | None = None
