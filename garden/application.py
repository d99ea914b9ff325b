"""The composition root: an open garden, with every part wired to the others."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from events.pool import Pool
from events.reading import EventReader
from events.store import EventStore
from garden.documents import Documents
from garden.drift import Adoption
from garden.files import GardenFiles
from garden.ground import Ground, Progress, prepare, silent
from garden.home import Home
from garden.keys import KeySource
from garden.moving import Moving
from garden.planning import Planner
from garden.session import Session, checked_caller
from garden.settings import Settings, load_settings
from garden.settling import Settlement
from garden.snapshots import Snapshots
from garden.tools.declaration import Services
from garden.tools.dispatching import Dispatcher
from garden.tools.registry import REGISTRY
from garden.writing import WritePath
from grammar.kinds.catalogue import load_kinds
from grammar.kinds.declaration import KindError

KINDS_FOLDER = "kinds"


class Garden:
    """An open garden home, which many threads may use at once, and other processes at the same time."""

    def __init__(self, settings: Settings, ground: Ground) -> None:
        self.settings = settings
        self.home = ground.home
        with ExitStack() as stack:
            self.services = _wired(settings, ground, stack)
            self._open = stack.pop_all()
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
        """Act for one user; the ids are recorded with all that happens in the session."""
        caller = checked_caller(
            user_id, actor, role, transaction_id=transaction_id, agent_action_id=agent_action_id
        )
        return Session(self._dispatcher, caller)

    def close(self) -> None:
        """Give everything back; an embedded database goes on running, for whoever comes next."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_garden(home: str | Path | None = None, *, report: Progress = silent) -> Garden:
    """Open the garden in this folder, or in the one that the settings name; what is missing is made."""
    settings = load_settings(Path(home) if home is not None else None).settings
    return Garden(settings, prepare(settings, report))


def _wired(settings: Settings, ground: Ground, stack: ExitStack) -> Services:
    keys = KeySource(settings, ground.home)
    # Readers have connections of their own: whoever holds a document's lock may have to read, and those who
    # wait for the lock can't keep it from that.
    account = EventStore(stack.enter_context(Pool(ground.database_url)), keys)
    reader = EventReader(stack.enter_context(Pool(ground.database_url)))
    files = stack.enter_context(GardenFiles(ground.home.path))
    documents = Documents(load_kinds(_declarations(ground.home)))
    planner = Planner(documents, settings.limits.document_bytes)
    settlement, adoption = Settlement(reader, files), Adoption(reader, documents)
    writing = WritePath(account, files, documents, planner, settlement, adoption)
    return Services(
        files=files,
        documents=documents,
        account=account,
        reader=reader,
        writing=writing,
        moving=Moving(account, files, documents, writing),
        snapshots=Snapshots(account, reader, files, writing),
        limits=settings.limits,
    )


def _declarations(home: Home) -> list[tuple[str, str]]:
    """Read the kinds that an operator has put beside the gardens."""
    return [(file.name, _text_of(file)) for file in sorted((home.path / KINDS_FOLDER).glob("*.toml"))]


def _text_of(declaration: Path) -> str:
    try:
        return declaration.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise KindError(
            f"{declaration.name} can't be read as text in UTF-8.", hint="Mend the file or take it away."
        ) from None
