"""The parts of an open garden, for everything above the write path."""

from dataclasses import dataclass

from garden.events.attempts import Attempts
from garden.events.head_guard import HeadGuard
from garden.events.heads import HeadBuilder
from garden.events.maintenance import Maintenance
from garden.events.reader import EventReader
from garden.events.store import EventStore
from garden.events.verifier import Verifier
from garden.files.garden_files import GardenFiles
from garden.home.disk_space import DiskSpace
from garden.home.settings import Limits, Secrets, Upkeep
from garden.writing.documents import Documents
from garden.writing.erasing.eraser import Eraser
from garden.writing.moves import Mover
from garden.writing.snapshots import Snapshots
from garden.writing.write_path import WritePath


@dataclass(frozen=True)
class Services:
    """The parts of an open garden."""

    files: GardenFiles
    documents: Documents
    store: EventStore
    reader: EventReader
    verifier: Verifier
    maintenance: Maintenance
    recoveries: Attempts
    heads: HeadBuilder
    head_guard: HeadGuard
    write_path: WritePath
    recovery_path: WritePath
    mover: Mover
    snapshots: Snapshots
    eraser: Eraser
    disk_space: DiskSpace
    limits: Limits
    secrets: Secrets
    timezone: str | None
    upkeep: Upkeep
