"""The heads that this process knows: enough to plan a change before its document's lock is taken.

A known head is never trusted. The database compares it, under the lock, before it records what was planned.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from garden.events.records import Head, LastChange

_HEADS_MAX = 4096


class FoundHead(NamedTuple):
    """A head as it is found under the lock, and what else an opened document tells.

    `has_erased` says whether words of this user were erased, so that new text has to be compared with them.
    `last_key` is that of the last request here, which is often sent again.
    """

    head: Head = Head()
    last_change: LastChange | None = None
    damage: Mapping[str, Any] | None = None
    has_erased: bool = False
    last_key: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the next change has nothing to settle, to mend or to compare."""
        head = self.head
        return head.has_file and head.open_event_id is None and not (self.damage or self.has_erased)


class KnownHeads:
    """The latest heads by user and path; any number of threads may use it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], FoundHead] = OrderedDict()
        self._guard = threading.Lock()

    def find(self, user_id: str, path: str) -> FoundHead | None:
        """The head of a document, if it is known."""
        return self._kept.get((user_id, path))

    def keep(self, user_id: str, path: str, found: FoundHead) -> None:
        """Keep a head, unless its document needs more than a change."""
        with self._guard:
            self._kept.pop((user_id, path), None)
            if found.is_plain:
                self._kept[user_id, path] = found
            if len(self._kept) > _HEADS_MAX:
                self._kept.popitem(last=False)
