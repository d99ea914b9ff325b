"""Lookups that are not tools, such as a whole text, one version, one event or a diff.

Each of those that begin a request passes the gateway as the tool would that shows the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from garden.events.erasures import Erasure, Tombstone
from garden.events.reader import Facets, Query
from garden.events.records import Caller, Event
from garden.events.versions import Version
from garden.events.views import EventView
from garden.files.errors import FileMissingError
from garden.files.paths import GardenPath, parse_path
from garden.gateway.access import Access
from garden.gateway.dispatcher import Dispatcher
from garden.gateway.given import Given, find_given
from garden.grammar.canonical import content_hash
from garden.grammar.errors import GardenError
from garden.history.lineage import Lineage
from garden.history.names import unknown_name
from garden.history.references import find_version
from garden.home.local_day import now_in
from garden.tools.documents import read_document, warnings_of_copy
from garden.tools.events import QueryRequest, query_of
from garden.tools.registry import REGISTRY
from garden.tools.request_paths import document_or_copy_path
from garden.tools.write_claims import OPS
from garden.writing.lost_lines import way_back
from garden.writing.planner import edit_types
from garden.writing.services import Services
from garden.writing.versions import EventNotFoundError, change_of, find_event

ERASURES_MAX = 25
# A preview reads, and shows no less.
_AS_PREVIEW = {"everything": True, "preview": True, "reason": "Look at earlier erasures."}


class UnprovenError(GardenError):
    """No signed checkpoint holds the event yet."""

    code: ClassVar[str] = "not_found"


class TombstoneNotFoundError(GardenError):
    """The user has no erasure with this id."""

    code: ClassVar[str] = "not_found"


@dataclass(frozen=True)
class WholeText:
    """A whole text, the hash that `ifMatch` takes, and warnings."""

    text: str
    hash: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document on the disk or in the events: its version, 0 if none is recorded, and whether it is well."""

    path: str
    version: int
    updated_at: datetime | None
    has_file: bool
    is_damaged: bool
    is_archived: bool = False


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
        place = self._parse(caller, path)
        if not place.is_folder:
            return [place]
        if not self._services.files.exists(place):
            raise FileMissingError
        return list(self._services.files.live_documents(place))

    def _parse(self, caller: Caller, path: str) -> GardenPath:
        place = parse_path(path, owner=caller.user_id)
        self._services.files.declared.check(place)
        return place

    def listing(self, access: Access) -> list[ListedDocument]:
        """List the documents of the garden by path, also those whose file is missing; one round trip."""
        user_id = access.caller.user_id
        with self.admit(access, "fs.list", {"path": f"users/{user_id}"}):
            with self._services.reader.snapshot(user_id) as snapshot:
                rows = snapshot.fetch("heads_with_damage", {"path": None})
            files = {each.text for each in self._services.files.documents(GardenPath(f"users/{user_id}"))}
        heads = {
            row["path"]: row for row in rows if row["path"] and (row["has_file"] or row["path"] in files)
        }
        unknown = {"version": 0, "updated_at": None, "damage": None}
        return [
            self._listed(path, heads.get(path, unknown), has_file=path in files)
            for path in sorted(files | heads.keys())
            if self._services.files.declared.allow(GardenPath(path))
        ]

    def _listed(self, path: str, row: Mapping[str, Any], *, has_file: bool) -> ListedDocument:
        is_archived = has_file and self._services.files.is_archived(GardenPath(path))
        return ListedDocument(
            path, row["version"], row["updated_at"], has_file, bool(row["damage"]), is_archived
        )

    def version(self, access: Access, path: str, number: int) -> WholeText:
        """Rebuild one version of a document from its events."""
        with self.admit(access, "history.show", {"path": path, "at": str(number)}):
            user_id = access.caller.user_id
            text = self._services.reader.text_at(user_id, parse_path(path, owner=user_id).text, number)
        return WholeText(text, content_hash(text))

    def version_named(self, caller: Caller, path: str, reference: str) -> Version:
        """The version of a document that a number, an event, a time or a count back names."""
        place = self._parse(caller, path)
        lineage = Lineage(self._services.versions, caller.user_id, place.text)
        return find_version(lineage, reference, now_in(self._services.timezone))

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

    def facets(self, access: Access, filters: Mapping[str, Any]) -> Facets:
        """Count the newest events that filters of `events.query` find, by what they have."""
        with self.admit(access, "events.query", filters):
            wanted = query_of(self._services, access.caller, QueryRequest(**filters))
            zone = self._services.timezone or "UTC"
            return self._services.reader.facets(access.caller.user_id, wanted, zone)

    def proof(self, access: Access, event_id: UUID) -> str:
        """A proof that an event is in the log, by the newest signed checkpoint."""
        # Most commands need no log.
        from garden.history.proofs import published_proof

        with self.admit(access, "events.query", {"eventId": str(event_id)}):
            proof = published_proof(self._services, access.caller.user_id, event_id)
        if proof is None:
            raise UnprovenError(
                "No signed checkpoint holds this event yet.",
                hint="The service signs one from time to time, and 'garden checkpoint' signs one now.",
            )
        return str(proof)

    def given(
        self, access: Access, limit: int, first: str | None = None, *, shown: int
    ) -> tuple[list[Given], UUID | None]:
        """What `memory.context` gave to whom, newest first, and the id that the next page begins with."""
        with self.admit(access, "memory.list", {}):
            return find_given(self._services, access.caller.user_id, limit, first, shown=shown)

    def erasures(self, access: Access, before: str | None = None) -> list[Erasure]:
        """A page of erasures, newest first; the next one begins before the last id of this one."""
        with self.admit(access, "garden.erase", _AS_PREVIEW):
            earlier = _erasure_id(before) if before else None
            return self._services.eraser.erasures.listed(access.caller.user_id, earlier, ERASURES_MAX)

    def tombstone(self, access: Access, erasure_id: str) -> Tombstone:
        """What stays of an erasure."""
        with self.admit(access, "garden.erase", _AS_PREVIEW):
            wanted = _erasure_id(erasure_id)
            found = self._services.eraser.erasures.tombstone(access.caller.user_id, wanted)
        if found is None:
            raise _no_such_erasure()
        return found

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


def _erasure_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise _no_such_erasure() from None


def _no_such_erasure() -> TombstoneNotFoundError:
    return TombstoneNotFoundError("There is no such erasure.", hint="The page Erasure lists them.")
