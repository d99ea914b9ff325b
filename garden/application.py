"""The composition root: opens a garden and connects its parts."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from garden.access.dispatcher import Dispatcher, Watch
from garden.access.feed import Feed
from garden.access.lookups import Lookups
from garden.access.tokens import Tokens
from garden.events.attempts import Attempts
from garden.events.erased_words import ErasedWords
from garden.events.erasures import Erasures
from garden.events.head_guard import HeadGuard
from garden.events.heads import HeadBuilder
from garden.events.maintenance import Maintenance
from garden.events.pool import Pool
from garden.events.reader import EventReader
from garden.events.store import EventStore
from garden.events.tokens import TokenStore
from garden.events.verifier import Verifier
from garden.files.garden_files import GardenFiles
from garden.grammar.kinds.catalogue import load_kinds
from garden.home.disk_space import DiskSpace
from garden.home.embedded import EmbeddedPostgres
from garden.home.keys import KeySource
from garden.home.settings import Settings, load_settings
from garden.home.setup import PreparedHome, Progress, ignore_progress, prepare_home, read_own_kinds
from garden.session import Session
from garden.tools.registry import REGISTRY
from garden.writing.adoption import DriftAdopter
from garden.writing.callers import make_caller
from garden.writing.documents import Documents
from garden.writing.erased_text import ErasedText
from garden.writing.erasing.eraser import Eraser
from garden.writing.erasing.living_files import LivingFiles
from garden.writing.lost_copies import LostCopies
from garden.writing.lost_writes import LostWrites
from garden.writing.moves import Mover
from garden.writing.planner import Planner
from garden.writing.replays import Replays
from garden.writing.services import Services
from garden.writing.settlement import SagaSettler
from garden.writing.snapshots import Snapshots
from garden.writing.write_path import WritePath

_RECOVERERS_MAX = 4
_RECOVERY_LOCK_SECONDS = 0.5


class Garden:
    """An open garden home, for many threads and processes at once."""

    def __init__(self, settings: Settings, prepared: PreparedHome) -> None:
        self.settings = settings
        self.home = prepared.home
        self.keys = KeySource(settings, prepared.home)
        with ExitStack() as stack:
            # Readers have their own connections: a lock holder may have to read while every writer connection
            # waits for its lock.
            revive = EmbeddedPostgres(prepared.home).revive if settings.database_url is None else None
            writers, readers = (
                stack.enter_context(Pool(prepared.database_url, revive=revive)) for _ in range(2)
            )
            # Recovery does not wait long for a lock: a live holder finishes its own change.
            recoverers = stack.enter_context(
                Pool(
                    prepared.database_url,
                    size_max=_RECOVERERS_MAX,
                    lock_seconds=_RECOVERY_LOCK_SECONDS,
                    revive=revive,
                )
            )
            self.pools = {"writers": writers, "readers": readers, "recoverers": recoverers}
            self.services = _build_services(
                settings, prepared, self.keys, stack, writers, readers, recoverers
            )
            self.tokens = Tokens(TokenStore(readers, self.keys))
            self.feed = Feed(prepared.database_url, readers)
            stack.callback(self.feed.close)
            self._open = stack.pop_all()
        self.lookups = Lookups(self.services)
        self._dispatcher = Dispatcher(self.services, REGISTRY)

    def session(
        self,
        user_id: str,
        actor: str = "agent",
        *,
        role: str = "agent",
        transaction_id: str | None = None,
        agent_action_id: str | None = None,
    ) -> Session:
        """Open a session for one user; the ids are recorded with all of its events."""
        caller = make_caller(
            user_id, actor, role, transaction_id=transaction_id, agent_action_id=agent_action_id
        )
        return Session(self._dispatcher, caller)

    def watch_calls(self, watch: Watch) -> None:
        """Report every call of every session to this function."""
        self._dispatcher.watch(watch)

    def close(self) -> None:
        """Close connections and threads; an embedded database keeps running for other processes."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_garden(home: str | Path | None = None, *, report: Progress = ignore_progress) -> Garden:
    """Open the garden in this folder or in the settings' folder, creating what is missing."""
    settings = load_settings(Path(home) if home is not None else None).settings
    return Garden(settings, prepare_home(settings, report))


def _build_services(
    settings: Settings,
    prepared: PreparedHome,
    keys: KeySource,
    stack: ExitStack,
    writers: Pool,
    readers: Pool,
    recoverers: Pool,
) -> Services:
    store, reader = EventStore(writers, keys), EventReader(readers)
    verifier = Verifier(reader, keys)
    files = stack.enter_context(GardenFiles(prepared.home.path))
    documents = Documents(load_kinds(read_own_kinds(prepared.home)))
    erased_text = ErasedText(ErasedWords(readers, keys))
    planner = Planner(documents, reader, settings.limits.document_bytes, settings.limits.caps)
    settlement, guard = SagaSettler(store, reader, files), HeadGuard(reader, keys)
    adoption = DriftAdopter(reader, documents, files, guard, erased_text)
    lost_writes, lost_copies = LostWrites(reader, files), LostCopies(reader, files)
    replays = Replays(reader, files, settlement, lost_writes)
    disk_space = DiskSpace(prepared.home.path, settings.limits.free_disk_bytes)
    parts = (
        *(files, documents, planner, settlement, adoption),
        *(lost_writes, lost_copies, replays, erased_text, disk_space),
    )
    write_path = WritePath(store, *parts)
    return Services(
        files=files,
        documents=documents,
        store=store,
        reader=reader,
        verifier=verifier,
        maintenance=Maintenance(readers),
        recoveries=Attempts(readers),
        heads=HeadBuilder(store, reader, verifier),
        head_guard=guard,
        write_path=write_path,
        recovery_path=WritePath(EventStore(recoverers, keys), *parts),
        mover=Mover(store, files, documents, write_path, disk_space),
        snapshots=Snapshots(store, reader, files, write_path, disk_space),
        eraser=Eraser(
            store,
            reader,
            Erasures(readers, keys),
            TokenStore(readers, keys),
            files,
            LivingFiles(files, documents),
            write_path,
        ),
        disk_space=disk_space,
        limits=settings.limits,
        secrets=settings.secrets,
        timezone=settings.timezone,
        upkeep=settings.upkeep,
    )
