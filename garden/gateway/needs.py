"""What needs a person in a garden, and the ways out that no tool offers."""

from datetime import timedelta

from garden.gateway.access import Access
from garden.gateway.dispatcher import Dispatcher
from garden.upkeep.needs import Looked, Need, needs_of
from garden.upkeep.reconciliation import Reconciliation, sweep
from garden.writing.services import Services

SMALL_GARDEN_DOCUMENTS = 60


class Needs:
    """Finds what needs a person, each time anew; what has not changed is not read again."""

    def __init__(self, services: Services, dispatcher: Dispatcher) -> None:
        self._services = services
        self._admit = dispatcher.admit
        self._looked = Looked()

    def is_quick(self, access: Access) -> bool:
        """Whether the garden is small enough to be looked through while a person waits."""
        return not self._services.reader.has_documents(access.caller.user_id, SMALL_GARDEN_DOCUMENTS + 1)

    def find(self, access: Access) -> list[Need]:
        """Find what needs a person, the most urgent first."""
        user_id = access.caller.user_id
        with self._admit(access, "fs.list", {"path": f"users/{user_id}"}):
            return needs_of(self._services, user_id, self._looked)

    def settle(self, access: Access, path: str) -> list[Reconciliation]:
        """Try the changes that were given up once more, for callers who may repair this document."""
        user_id = access.caller.user_id
        with self._admit(access, "md.repair", {"path": path}):
            self._services.recoveries.release(user_id)
            return [*sweep(self._services, timedelta(0), user_id, pause_seconds=0)]
