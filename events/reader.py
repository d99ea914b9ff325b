"""The readers' side of the event log: events, newest first, and the text of any version."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

from garden.events.identifiers import earliest_uuid7
from garden.events.pool import Pool
from garden.events.records import Caller, Event, Head
from garden.events.rows import event_of, head_of
from garden.events.saga import Status
from garden.events.snapshots import ReaderSnapshot
from garden.events.statements import statements
from garden.events.version_texts import VersionTexts
from garden.grammar.canonical import decoded
from garden.grammar.errors import GardenError

PAGE_EVENTS_DEFAULT = 50
PAGE_EVENTS_MAX = 500
# Bytes of text; an event that has more comes alone.
PAGE_SIZE_MAX = 1024 * 1024
ID_CHARACTERS_MIN = 6
_PAGING = {"limit", "cursor"}
_SIMPLE = {(): "newest", ("path",): "newest_of_path"}
_NOT_PREPARED = {"filtered", "filtered_as_views", "filtered_as_facets", "named_by_caller", "claimed_write"}
_NAMED_MAX = 100
FACET_EVENTS_MAX = 10_000
_FACET_VALUES_MAX = 60
# An id carries the time of its row, but the clocks of two hosts may differ; a search by id is wider by this.
_AFTER_ALL = UUID(int=2**128 - 1)
_CLOCK_SLACK = timedelta(minutes=5)

Found = TypeVar("Found")


class InvalidQueryError(GardenError):
    """A malformed query."""

    code = "invalid_input"


class VersionNotFoundError(GardenError):
    """The event log has no such version of the document."""

    code = "not_found"


class DocumentUnknownError(VersionNotFoundError):
    """The event log has no version of the document at all."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"There is no document {path} in the event log.", hint="fs.list shows which documents there are."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The filters of a search; None does not narrow it.

    `section` holds the names under which events may record a section, in any case. `event_id` is an id or its
    last characters.
    """

    path: str | None = None
    section: tuple[str, ...] | None = None
    event_id: str | None = None
    type: str | None = None
    op: str | None = None
    tool: str | None = None
    status: str | tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    actor: str | None = None
    tool_call_id: str | None = None
    transaction_id: str | None = None
    agent_action_id: str | None = None
    evidence_ref: str | None = None
    text: str | None = None
    limit: int = PAGE_EVENTS_DEFAULT
    cursor: str | None = None


_FIELDS = tuple(field.name for field in fields(Query))
_fields = attrgetter(*_FIELDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteClaim:
    """What is said of a write; None says nothing. Hashes are the document's or the section's."""

    path: str | None = None
    section: tuple[str, ...] | None = None
    before_hash: str | None = None
    after_hash: str | None = None
    actor: str | None = None
    ops: tuple[str, ...] | None = None


class Page(NamedTuple, Generic[Found]):
    """Events, newest first, and the cursor of the next page, if there is one."""

    events: Sequence[Found]
    cursor: str | None


Facets = Mapping[str, Sequence[tuple[str, int]]]
"""Values of events, each with its count, by `actor`, `tool`, `type`, `status`, `day`, `section` and `all`."""


class EventReader:
    """Reads the event log, each user's with that user's rights."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def check_reachable(self) -> None:
        """Raise `unavailable` if the database does not answer."""
        self._pool.read(lambda connection: connection.execute(statements("queries")["check"]))

    def query(self, user_id: str, query: Query) -> Page[Event]:
        """Find events, newest first; new events do not disturb the pages after a cursor."""
        name, values = _statement_for(query)
        rows = self._fetch(user_id, name, {**values, "limit": values["limit"] + 1})
        events = tuple(event_of(row) for row in rows[: query.limit])
        return Page(events, str(events[-1].event_id) if len(rows) > query.limit else None)

    def views(self, user_id: str, query: Query) -> Page[dict[str, Any]]:
        """Find events as they are on the wire, newest first; a page ends after so much text."""
        from garden.events.views import event_views, page_length

        name, values = _statement_for(query)
        rows = self._fetch(user_id, f"{name}_as_views", {**values, "limit": query.limit + 1}, as_tuples=True)
        views = event_views(rows[: page_length(rows[: query.limit], PAGE_SIZE_MAX)])
        return Page(views, views[-1]["eventId"] if len(rows) > len(views) else None)

    def event(self, user_id: str, event_id: UUID) -> Event | None:
        """Read one event."""
        rows = self._fetch(user_id, "event", {"event_id": event_id})
        return event_of(rows[0]) if rows else None

    def facets(self, user_id: str, query: Query, zone: str) -> Facets:
        """Count the newest events that a query finds by what they have; days are those of the zone."""
        name, values = _statement_for(query)
        limits = {"limit": FACET_EVENTS_MAX, "values_max": _FACET_VALUES_MAX, "zone": zone}
        rows = self._fetch(user_id, f"{name}_as_facets", {**values, **limits})
        return {
            facet: [(row["value"] or "", row["events"]) for row in found]
            for facet, found in groupby(rows, itemgetter("facet"))
        }

    def names_used(self, user_id: str) -> dict[str, set[str]]:
        """The actors, types, ops and tools of a user's events."""
        rows = self._fetch(user_id, "names_used", {})
        return {name: {row[name] for row in rows} for name in ("actor", "type", "op", "tool")}

    def find_write(self, user_id: str, claim: WriteClaim, *, by: Caller | None = None) -> Event | None:
        """Find the newest committed write that bears out a claim; `by` has the write's correlation ids."""
        event_ids = None if by is None else self._named_by(user_id, by, claim.path)
        if event_ids == []:
            return None
        values = {
            **asdict(claim),
            "event_ids": event_ids,
            "section": _section_forms(claim.section),
            "ops": None if claim.ops is None else list(claim.ops),
        }
        rows = self._fetch(user_id, "claimed_write", values)
        return event_of(rows[0]) if rows else None

    def owed_overrides(self, user_id: str, path: str) -> dict[UUID, list[str]]:
        """The keys of findings about exceeded caps, by the edit whose reason is missing, newest first."""
        rows = self._fetch(user_id, "owed_overrides", {"path": path})
        return {row["event_id"]: row["keys"] for row in rows}

    def _named_by(self, user_id: str, caller: Caller, path: str | None) -> list[UUID]:
        ids = {
            "tool_call_id": caller.tool_call_id,
            "transaction_id": caller.transaction_id,
            "agent_action_id": caller.agent_action_id,
        }
        if not any(ids.values()):
            return []
        rows = self._fetch(user_id, "named_by_caller", {**ids, "path": path, "limit": _NAMED_MAX})
        return [row["event_id"] for row in rows]

    def head(self, user_id: str, path: str) -> Head | None:
        """Read a document's head."""
        rows = self._fetch(user_id, "head", {"path": path})
        return head_of(rows[0]) if rows else None

    def has_documents(self, user_id: str, number: int) -> bool:
        """Whether a user has at least so many documents."""
        [row] = self._fetch(user_id, "has_documents", {"limit": number})
        return bool(row["documents"] >= number)

    def newest_number(self, user_id: str, stream: str) -> int:
        """The sequence of the newest event of a stream that is in the feed; 0 if there is none."""
        [row] = self._fetch(user_id, "newest_number", {"stream": stream})
        return row["sequence"] or 0

    def text_at(self, user_id: str, path: str, version: int) -> str:
        """Rebuild a document's text at one version from its events."""
        with self.snapshot(user_id) as snapshot:
            texts = VersionTexts(snapshot, path)
            data, reached = texts.at(version), texts.reached
        if reached == 0 and version > 0:
            raise DocumentUnknownError(path)
        if reached != version or version < 1:
            raise VersionNotFoundError(
                f"{path} has no version {version}.", hint=f"The newest version up to there is {reached}."
            )
        return decoded(data)

    @contextmanager
    def snapshot(self, user_id: str) -> Iterator[ReaderSnapshot]:
        """Read one user's rows as they are at this moment."""
        # Reads in the snapshot can't be retried, so the connection is tried first.
        self.check_reachable()
        with self._pool.connection() as connection, connection.transaction():
            connection.execute(statements("queries")["freeze"])
            connection.execute(statements("identities")["reader"], {"user_id": user_id})
            yield ReaderSnapshot(connection, user_id)

    def _fetch(
        self, user_id: str, name: str, values: Mapping[str, Any], *, as_tuples: bool = False
    ) -> list[Any]:
        # These are planned anew each time, with their values known.
        prepare = name not in _NOT_PREPARED
        values = {**values, "user_id": user_id}
        return self._pool.fetch("reader", "queries", name, values, prepare=prepare, as_tuples=as_tuples)


def _statement_for(query: Query) -> tuple[str, dict[str, Any]]:
    given = zip(_FIELDS, _fields(query), strict=True)
    simple = _SIMPLE.get(tuple([name for name, value in given if value is not None and name not in _PAGING]))
    return simple or "filtered", query_values(query)


def query_values(query: Query) -> dict[str, Any]:
    """The values of a search in its statement."""
    if not 1 <= query.limit <= PAGE_EVENTS_MAX:
        raise InvalidQueryError(
            f"A page has 1 to {PAGE_EVENTS_MAX} events, not {query.limit}.",
            hint="Ask for the next with the cursor.",
        )
    statuses = (query.status,) if isinstance(query.status, str) else query.status
    event_id, id_ending = _event_name(query.event_id)
    return {
        **dict(zip(_FIELDS, _fields(query), strict=True)),
        **_status_values(statuses),
        "event_id": event_id,
        "id_ending": id_ending,
        "section": _section_forms(query.section),
        "cursor": _cursor(query.cursor),
        "words": query.text.split() if query.text else None,
        "first_id": _id_at(query.since, -_CLOCK_SLACK),
        "last_id": _id_at(query.until, _CLOCK_SLACK),
    }


def _section_forms(names: tuple[str, ...] | None) -> list[str] | None:
    return None if names is None else [form for name in names for form in (name, name.lower())]


def _status_values(statuses: tuple[str, ...] | None) -> dict[str, Any]:
    """The states wanted, and whether they are only those that an index finds."""
    unknown = sorted(set(statuses or ()) - set(Status))
    if unknown:
        raise InvalidQueryError(f"'{unknown[0]}' is not a status.", hint=f"Use one of: {', '.join(Status)}.")
    wanted = set(statuses or Status)
    return {
        "statuses": None if statuses is None else list(statuses),
        "only_failed": wanted == {Status.FAILED},
        "only_open": wanted <= {Status.PENDING, Status.WRITTEN},
    }


def _event_name(text: str | None) -> tuple[UUID | None, str | None]:
    """The id in a text, or else the last characters of one."""
    if text is None:
        return None, None
    name = text.strip().lower().removeprefix("evt:")
    try:
        return UUID(name), None
    except ValueError:
        pass
    if len(name) < ID_CHARACTERS_MIN:
        raise InvalidQueryError(
            f"{text!r} is too short to find an event.",
            hint=f"Give the event's id, or at least its last {ID_CHARACTERS_MIN} characters.",
        )
    return None, name


def _id_at(time: datetime | None, slack: timedelta) -> UUID | None:
    """The first id of about that time; None if no id can have it, since the time itself is compared too."""
    try:
        return earliest_uuid7(time + slack) if time else None
    except (OverflowError, ValueError):
        return None


def _cursor(text: str | None) -> UUID:
    if text is None:
        return _AFTER_ALL
    try:
        return UUID(text)
    except ValueError:
        raise InvalidQueryError(
            "The cursor does not come from a page.", hint="Use the last page's cursor unchanged, or none."
        ) from None
