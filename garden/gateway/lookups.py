"""Lookups that are not tools, such as a whole text, one version, one event or a diff.

Each of those that begin a request passes the gateway as the tool would that shows the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from garden.events.reader import Query
from garden.events.records import Caller, Event
from garden.events.versions import Version
from garden.events.views import EventView
from garden.files.errors import FileMissingError
from garden.files.paths import GardenPath, parse_path
from garden.gateway.access import Access
from garden.gateway.dispatcher import Dispatcher
from garden.grammar.canonical import content_hash
from garden.history.lineage import Lineage
from garden.history.names import unknown_name
from garden.history.references import find_version
from garden.home.local_day import now_in
from garden.tools.documents import read_document, warnings_of_copy
from garden.tools.registry import REGISTRY
from garden.tools.request_paths import document_or_copy_path
from garden.tools.write_claims import OPS
from garden.writing.lost_lines import way_back
from garden.writing.planner import edit_types
from garden.writing.services import Services
from garden.writing.versions import EventNotFoundError, change_of, find_event


@dataclass(frozen=True)
class WholeText:
    """A whole text, the hash that `ifMatch` takes, and warnings."""

    text: str
    hash: str
    warnings: tuple[str, ...] = ()


class Lookups:
    """Find what a caller names in the caller's own garden."""

    def __init__(self, services: Services, dispatcher: Dispatcher) -> None:
        self._services = services
        self.admit = dispatcher.admit

    def text(self, access: Access, path: str) -> WholeText:
        """Read a whole document or history copy of any length."""
        with self.admit(access, "fs.read", {"path": path}):
            place = document_or_copy_path(access.caller, path)
            standing = read_document(self._services, place)
        warnings = warnings_of_copy(self._services, place, standing)
        return WholeText(standing.text, standing.document.hash, warnings)

    def documents(self, caller: Caller, path: str) -> list[GardenPath]:
        """List the documents in a folder; a document's own path lists just that document."""
        place = parse_path(path, owner=caller.user_id)
        if not place.is_folder:
            return [place]
        if not self._services.files.exists(place):
            raise FileMissingError
        return list(self._services.files.documents(place))

    def version(self, access: Access, path: str, number: int) -> WholeText:
        """Rebuild one version of a document from its events."""
        with self.admit(access, "history.show", {"path": path, "at": str(number)}):
            user_id = access.caller.user_id
            text = self._services.reader.text_at(user_id, parse_path(path, owner=user_id).text, number)
        return WholeText(text, content_hash(text))

    def version_named(self, caller: Caller, path: str, reference: str) -> Version:
        """The version of a document that a number, an event, a time or a count back names."""
        place = parse_path(path, owner=caller.user_id)
        lineage = Lineage(self._services.versions, caller.user_id, place.text)
        return find_version(lineage, reference, now_in(self._services.timezone))

    def event(self, access: Access, event_id: str) -> EventView:
        """Find an event by its whole id, with its annotations."""
        with self.admit(access, "events.query", {}):
            return self._view(access.caller, self._event(access.caller, event_id))

    def event_named(self, access: Access, name: str) -> EventView:
        """Find an event by its id or the end of it, with its annotations."""
        with self.admit(access, "events.query", {}):
            return self._view(access.caller, find_event(self._services.reader, access.caller.user_id, name))

    def check_filters(self, caller: Caller, filters: Mapping[str, str | None]) -> None:
        """Refuse an actor, type, op or tool that no event of the user has, and name the nearest ones."""
        used = self._services.reader.names_used(caller.user_id)
        may_come = {"type": edit_types(self._services.documents.kinds), "op": OPS, "tool": REGISTRY}
        for what, name in filters.items():
            known = used[what].union(may_come.get(what, ()))
            if name is not None and name not in known:
                raise unknown_name(what, name, known)

    def diff(self, caller: Caller, event_id: str) -> str:
        """Diff of what an event changed, or intended to change; empty for an event without a change."""
        return change_of(self._services.reader, self._event(caller, event_id)).text

    def way_back(self, caller: Caller, event_id: str) -> str:
        """How to bring back what an outside edit removed of an agent; empty for any other event."""
        return way_back(self._event(caller, event_id))

    def _view(self, caller: Caller, event: Event) -> EventView:
        page = self._services.reader.views(caller.user_id, Query(event_id=str(event.event_id), limit=1))
        return EventView.model_validate(page.events[0])

    def _event(self, caller: Caller, event_id: str) -> Event:
        try:
            found = self._services.reader.event(caller.user_id, UUID(event_id))
        except ValueError:
            found = None
        if found is None:
            raise EventNotFoundError("No event has this id.", hint="events.query lists the events.")
        return found
