"""The versions of documents: listed, and found by number, time or event."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from garden.events.identifiers import earliest_uuid7
from garden.events.pool import Pool
from garden.events.version_texts import VERSION_MAX

AFTER_ALL = UUID(int=2**128 - 1)
_FILE = "versions"
# Two hosts' clocks may differ, and an id holds the time of one.
_SLACK = timedelta(minutes=5)
_NO_FILTERS = dict.fromkeys(
    ("path", "folder", "first", "last", "section", "since", "until", "actor", "words")
)


class Version(NamedTuple):
    """An event, and the version that it left, or 0; `came_from` is the path before a move."""

    path: str
    number: int
    event_id: UUID
    time: datetime
    status: str
    leaves_file: bool
    type: str
    op: str
    tool: str
    role: str
    actor: str
    section_anchor: str | None
    sections: Sequence[str]
    rationale: str | None
    came_from: str | None


class VersionReader:
    """Reads the versions of one user's documents, with that user's rights."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def numbered(self, user_id: str, path: str, number: int) -> Version | None:
        """The version of a document with a number."""
        return self._one(user_id, "numbered", path=path, number=number)

    def newest(
        self,
        user_id: str,
        path: str,
        *,
        at: datetime | None = None,
        before: UUID | None = None,
        last: int = VERSION_MAX,
        with_file: bool = False,
    ) -> Version | None:
        """The newest version up to a time, before an event, and with at most the number `last`."""
        before = before or (_id_after(at) if at else AFTER_ALL)
        return self._one(user_id, "newest", path=path, at=at, before=before, last=last, with_file=with_file)

    def arrival(self, user_id: str, path: str, last: int = VERSION_MAX) -> Version | None:
        """The newest version, up to a number, with which a document came to this path from another one."""
        return self._one(user_id, "arrival", path=path, last=last)

    def next_arrival(self, user_id: str, path: str, after: UUID) -> Version | None:
        """The version with which the document at a path came to another one, after an event."""
        return self._one(user_id, "next_arrival", path=path, after=after)

    def ending(self, user_id: str, paths: Sequence[str], ending: str) -> Version | None:
        """The newest event about one of these documents whose id ends so."""
        return self._one(user_id, "ending", paths=list(paths), ending=ending)

    def named(self, user_id: str, event_ids: Sequence[UUID]) -> dict[UUID, Version]:
        """The versions that these events left, by event."""
        found = self._find(user_id, "named", event_ids=list(event_ids))
        return {each.event_id: each for each in found}

    def log(self, user_id: str, limit: int, before: UUID | None = None, **filters: object) -> list[Version]:
        """Versions, newest first; a filter that is left out does not narrow them."""
        given = {**_NO_FILTERS, **filters, "before": before or AFTER_ALL, "limit": limit}
        return self._find(user_id, "log", **given)

    def garden_at(self, user_id: str, folder: str, at: datetime) -> list[Version]:
        """The documents below a folder that had a file at a time, each in its version of then."""
        return self._find(user_id, "garden_at", folder=folder, at=at, before=_id_after(at))

    def sections(self, user_id: str, path: str | None) -> list[str]:
        """The sections that events name, of one document or of all."""
        return [row["name"] for row in self._fetch(user_id, "sections", {"path": path})]

    def documents(self, user_id: str, path: str) -> list[str]:
        """The documents that the event log has at a path or below it."""
        return [row["path"] for row in self._fetch(user_id, "documents", {"path": path})]

    def _one(self, user_id: str, name: str, **values: object) -> Version | None:
        return next(iter(self._find(user_id, name, **values)), None)

    def _find(self, user_id: str, name: str, **values: object) -> list[Version]:
        rows = (row.values() for row in self._fetch(user_id, name, values))
        return [Version(path, number or 0, *rest) for path, number, *rest in rows]

    def _fetch(self, user_id: str, name: str, values: dict[str, Any]) -> list[Any]:
        given = {**values, "user_id": user_id}
        return self._pool.fetch("reader", _FILE, name, given, prepare=name != "log")


def _id_after(time: datetime) -> UUID:
    """An id after all of events up to a time; the time itself is compared too."""
    try:
        return earliest_uuid7(time + _SLACK)
    except (OverflowError, ValueError):
        return AFTER_ALL
