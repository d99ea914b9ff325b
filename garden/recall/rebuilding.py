"""Making recall's rows again from the events, document by document, while others go on writing."""

from typing import NamedTuple
from uuid import UUID

from garden.events.database import DatabaseUnavailableError
from garden.events.idempotency import InProgressError
from garden.events.reader import VersionNotFoundError
from garden.events.records import Caller
from garden.events.store import EventStore
from garden.files.paths import GardenPath
from garden.grammar.canonical import raw_hash
from garden.grammar.errors import GardenError
from garden.passages.extraction import ANALYSIS
from garden.recall.history import History
from garden.writing.indexing import log_unread
from garden.writing.services import Services


class DocumentRows(NamedTuple):
    """How many passages of a document recall has now, and what is wrong, if anything."""

    path: str
    passages: int = 0
    problem: str = ""


def documents_behind(services: Services, user_id: str | None = None) -> list[GardenPath]:
    """The documents whose rows do not show the newest version by today's rules; a rebuild takes one off."""
    return [GardenPath(each) for each in services.passages.unindexed(user_id, ANALYSIS)]


def recalled_documents(services: Services, user_id: str) -> list[GardenPath]:
    """The documents of a user that are in the event log, or have rows."""
    with services.reader.snapshot(user_id) as snapshot:
        return [GardenPath(row["path"]) for row in snapshot.fetch("recalled_paths", {})]


def rebuild(services: Services, path: GardenPath, store: EventStore | None = None) -> DocumentRows:
    """Make the rows of a document again; on a problem those there are stay."""
    try:
        return DocumentRows(path.text, _rebuild(services, store or services.store, path))
    except DatabaseUnavailableError:
        # The other documents would fail as well.
        raise
    except GardenError as error:
        return DocumentRows(path.text, problem=error.message)
    except Exception:  # noqa: BLE001 - the other documents are read all the same
        log_unread(path)
        return DocumentRows(path.text, problem="Its passages could not be read; the log says why.")


def _rebuild(services: Services, store: EventStore, path: GardenPath) -> int:
    """Read the events before the lock is taken, and those that came meanwhile under the lock.

    An erasure takes words out of events that were read before, so none may happen in between.
    """
    history = History(services.indexing, path)
    erasures = _follow(services, history, None)
    with store.document(Caller(path.user_id, "reconciler", "maintainer"), path.text) as stream:
        _follow(services, history, erasures)
        now, head = history.now, stream.head
        if (now.version, raw_hash(now.data)) != (head.version, head.raw_hash or raw_hash(b"")):
            raise VersionNotFoundError(
                "Its events do not lead to its head.", hint="Run 'garden keys verify'."
            )
        rows = [*history.gone, *now.live.values()]
        services.passages.replace_document(path.user_id, path.text, rows, now.version, ANALYSIS)
    return len(now.live)


def _follow(services: Services, history: History, known: list[UUID] | None) -> list[UUID]:
    """Follow the events up to now; returns the erasures up to then, which must be those that are known."""
    with services.reader.snapshot(history.now.path.user_id) as snapshot:
        rows = snapshot.fetch("erasures", {})
        erasures = [each["erasure_id"] for each in rows]
        if not all(each["finished_at"] for each in rows) or known not in (None, erasures):
            raise InProgressError("Words are being erased.", hint="Try again in a moment.")
        history.follow(snapshot)
    return erasures
