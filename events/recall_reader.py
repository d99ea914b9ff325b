"""The readers' side of recall: what is newer in a user's passages, and the passages themselves."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID

from garden.events.passages import PassageRow
from garden.events.pool import Pool

NOTHING_SEEN = "0"
_NOW = "infinity"
_AFTER_ALL = (UUID(int=2**128 - 1), 2**63 - 1)
_NO_FILTERS = dict.fromkeys((
    "gone", "name", "as_of", "kinds", "paths", "sections", "tags", "since", "until",
    "period_key_prefix", "summary_types",
))  # fmt: skip


class SectionColumns(NamedTuple):
    """The passages of a section under one heading: each column as bytes, and all in the same order.

    Numbers have the highest byte first, but `words` have the lowest. `previous` is 0 without one.
    """

    path: str
    anchor: str
    heading: str
    language: str
    numbers: bytes
    previous: bytes
    days: bytes
    lengths: bytes
    words: bytes
    embedded: bytes
    vectors: bytes | None


class Look(NamedTuple):
    """What has changed since an earlier look, and how many documents have not.

    The rows of those `behind` do not show the newest version, or are by older rules. The next look begins
    where this one has `seen` everything.
    """

    unchanged: int
    behind: int
    seen: str
    generations: dict[str, str]
    gone: bytes
    sections: tuple[SectionColumns, ...]


class FoundPassage(NamedTuple):
    """A passage with its text, its author and its time."""

    passage: int
    path: str
    anchor: str
    name: str
    heading: str
    language: str
    text: str
    day: date
    event_id: UUID
    tags: Sequence[str]
    priority: int | None
    summary_type: str | None
    period_key: str | None
    created_at: datetime
    actor: str
    role: str
    type: str
    op: str


class RecallReader:
    """Reads the passages of one user at a time, with that user's rights.

    Rows by rules older than `analysis` are behind.
    """

    def __init__(self, pool: Pool, analysis: int = 1) -> None:
        self._pool, self._analysis = pool, analysis

    def look(
        self,
        user_id: str,
        since: str,
        embedder: str | None,
        *,
        at: datetime | None = None,
        paths: Iterable[str] | None = None,
    ) -> Look:
        """Read what has changed since a look; at a time, or of some paths, what stands there."""
        of = None if paths is None else list(paths)
        values = {"since": since, "embedder": embedder, "paths": of, "analysis": self._analysis}
        rows = self._fetch(user_id, "look", values, at)
        unchanged, behind, seen, generations, gone = rows[0][:5]
        sections = tuple(SectionColumns(*row[5:]) for row in rows if row[5] is not None)
        return Look(unchanged, behind, seen, generations or {}, gone or b"", sections)

    def passages(self, user_id: str, numbers: Sequence[int], at: datetime | None) -> list[FoundPassage]:
        """Read the passages with these numbers that stand now, or stood at that time, in no order."""
        return [FoundPassage(*row) for row in self._fetch(user_id, "passages", {"numbers": numbers}, at)]

    def newest(
        self, user_id: str, limit: int, before: tuple[UUID, int] | None = None, **filters: object
    ) -> list[FoundPassage]:
        """List passages, newest first, after a passage of an event; a filter that is None does not narrow it.

        `kinds` are regular expressions of paths, `paths` may be folders, `sections` are of the overview;
        both days are included. With `gone` come those that no longer stand, too.
        """
        event_id, passage = before or _AFTER_ALL
        values = {"limit": limit, "before_event": event_id, "before_passage": passage}
        rows = self._fetch(user_id, "memories", {**_NO_FILTERS, **filters, **values})
        return [FoundPassage(*row) for row in rows]

    def recent(self, user_id: str, limit: int) -> list[FoundPassage]:
        """Read the newest summary of each type and so many other notes, newest first, without events."""
        return [FoundPassage(*row) for row in self._fetch(user_id, "recent", {"limit": limit})]

    def entries(self, user_id: str) -> tuple[list[tuple[date, int]], set[tuple[str, str]]]:
        """The number of entries of each day in all notes, and the types and keys of the summaries."""
        rows = self._fetch(user_id, "days_with_entries", {})
        return [(row[0], row[3]) for row in rows if not row[1]], {row[1:3] for row in rows if row[1]}

    def numbers_with(
        self,
        user_id: str,
        tags: Sequence[str],
        summary_types: Sequence[str],
        prefix: str | None,
        at: datetime | None,
    ) -> bytes:
        """Find the passages with all of these tags, one of these types, and a key that starts so."""
        values = {"tags": list(tags), "summary_types": list(summary_types), "prefix": prefix}
        [[numbers]] = self._fetch(user_id, "numbers_with", values, at)
        return numbers or b""

    def put_vectors(
        self,
        user_id: str,
        passages: Sequence[FoundPassage | PassageRow],
        vectors: Sequence[bytes],
        embedder: str,
    ) -> None:
        """Store the vectors of passages that lack one of this embedder and still have this heading."""
        values = {
            "user_id": user_id,
            "numbers": [each.passage for each in passages],
            "headings": [each.heading for each in passages],
            "vectors": vectors,
            "embedder": embedder,
        }
        self._pool.fetch("service", "recall", "put_vectors", values, prepare=False)

    def _fetch(
        self, user_id: str, name: str, values: Mapping[str, Any], at: datetime | None = None
    ) -> list[tuple[Any, ...]]:
        # The others are planned anew each time: their filters, or the whole garden, decide how they go.
        prepare = name in ("passages", "recent") or (name == "look" and values["since"] != NOTHING_SEEN)
        values = {**values, "user_id": user_id, "at": _NOW if at is None else at.isoformat()}
        return self._pool.fetch("reader", "recall", name, values, prepare=prepare, as_tuples=True)
