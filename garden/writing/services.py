"""The parts of an open garden, for everything above the write path."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from garden.events.attempts import Attempts
    from garden.events.calls import CallLog
    from garden.events.head_guard import HeadGuard
    from garden.events.heads import HeadBuilder
    from garden.events.kept_texts import KeptTexts
    from garden.events.keyring import Keyring
    from garden.events.log_leaves import LogLeaves
    from garden.events.maintenance import Maintenance
    from garden.events.passages import PassageStore
    from garden.events.reader import EventReader
    from garden.events.recall_reader import RecallReader
    from garden.events.recall_usage import RecallUsage
    from garden.events.store import EventStore
    from garden.events.verifier import Verifier
    from garden.events.versions import VersionReader
    from garden.files.garden_files import GardenFiles
    from garden.home.disk_space import DiskSpace
    from garden.home.folder import Home
    from garden.home.settings import Limits, Secrets, Sessions, Tlog, Upkeep
    from garden.writing.documents import Documents
    from garden.writing.erasing.eraser import Eraser
    from garden.writing.indexing import Indexing
    from garden.writing.moves import Mover
    from garden.writing.snapshots import Snapshots
    from garden.writing.transactions import Transactions
    from garden.writing.write_path import WritePath


class Services:
    """The parts of an open garden.

    Some are there `at_once`; the first use of another makes it, in the order of the functions for `later`.
    So a command that lists files loads neither the grammar nor the write path.
    """

    files: GardenFiles
    documents: Documents
    store: EventStore
    reader: EventReader
    versions: VersionReader
    memories: RecallReader
    verifier: Verifier
    maintenance: Maintenance
    recoveries: Attempts
    heads: HeadBuilder
    head_guard: HeadGuard
    write_path: WritePath
    recovery_path: WritePath
    mover: Mover
    snapshots: Snapshots
    transactions: Transactions
    eraser: Eraser
    passages: PassageStore
    kept_texts: KeptTexts
    indexing: Indexing
    disk_space: DiskSpace
    limits: Limits
    secrets: Secrets
    timezone: str | None
    language: str | None
    upkeep: Upkeep
    usage: RecallUsage
    calls: CallLog
    sessions: Sessions
    home: Home
    keys: Callable[[], Keyring]
    tlog: Tlog
    log_leaves: LogLeaves
    # Known as `Recall` above; garden.recall.recall.recall_of gives it its type.
    recall: object

    def __init__(self, at_once: Mapping[str, Any], *later: Callable[[Services], Mapping[str, Any]]) -> None:
        self.__dict__.update(at_once)
        self._later = list(later)
        self._guard = threading.RLock()

    def load(self, until: str | None = None) -> None:
        """Make the parts up to this one, or all of them in a process that will need them."""
        with self._guard:
            while self._later and (until is None or until not in self.__dict__):
                self.__dict__.update(self._later[0](self))
                self._later.pop(0)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            self.load(name)
            return object.__getattribute__(self, name)
