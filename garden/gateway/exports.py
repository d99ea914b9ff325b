"""A user's garden to take away and to check: as one file, its documents or all of it, and verified."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, ClassVar

from garden.gateway.access import Access
from garden.gateway.dispatcher import Dispatcher
from garden.grammar.errors import GardenError
from garden.history.checkpoints import published_note
from garden.history.faults import Fault
from garden.history.log_check import check_log
from garden.history.verification import verify_user
from garden.home.state_files import LockTimeoutError, exclusive_lock
from garden.tools.requests import ToolNotAllowedError
from garden.transfer.archives import write_archive
from garden.transfer.exports import write_zip
from garden.writing.callers import Role
from garden.writing.services import Services

FAULTS_MAX = 100


class VerifyingError(GardenError):
    """Another verification is under way."""

    code: ClassVar[str] = "unavailable"


@dataclass(frozen=True)
class Verification:
    """How much was verified, and the first of the faults."""

    events: int
    documents: int
    faults: Sequence[Fault]
    faults_found: int


class Exports:
    """Writes files without a name, which go when they are closed."""

    def __init__(self, services: Services, dispatcher: Dispatcher) -> None:
        self._services = services
        self._admit = dispatcher.admit

    def documents(self, access: Access, *, history: bool) -> IO[bytes]:
        """A zip of the documents, with `history` also the copies of earlier versions."""
        user_id = access.caller.user_id
        with self._admit(access, "fs.search", {"root": f"users/{user_id}", "pattern": "."}):
            file = TemporaryFile()  # noqa: SIM115 - the one who sends it closes it
            write_zip(self._services.files, file, user_id, history=history)
        return file

    def archive(self, access: Access) -> IO[bytes]:
        """The archive of the garden, which holds every event of every actor."""
        with self._admitted(access), TemporaryDirectory() as folder:
            target = Path(folder) / "archive"
            write_archive(self._services, access.caller.user_id, target)
            return target.open("rb")

    def checkpoint(self, access: Access) -> str | None:
        """The newest signed checkpoint of the home's log."""
        with self._admitted(access):
            note = published_note(self._services)
        return str(note) if note else None

    def verify(self, access: Access) -> Verification:
        """Verify the garden and the log while the caller waits, one caller of the home at a time."""
        lock = self._services.home.state / "verifying.lock"
        try:
            with self._admitted(access), exclusive_lock(lock, timeout_seconds=0):
                report = verify_user(self._services, access.caller.user_id)
                faults = (*report.faults, *check_log(self._services))
        except LockTimeoutError:
            raise VerifyingError(
                "Another verification is under way.", hint="Try again in a minute."
            ) from None
        return Verification(report.events, report.documents, faults[:FAULTS_MAX], len(faults))

    @contextmanager
    def _admitted(self, access: Access) -> Iterator[None]:
        """Refuse an agent what is about the whole account."""
        if access.caller.role == Role.AGENT:
            raise ToolNotAllowedError(
                "An agent may not see the whole account.", hint="Sign in as a reviewer or a maintainer."
            )
        with self._admit(access, "events.query", {}):
            yield
