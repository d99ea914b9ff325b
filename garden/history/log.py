"""The versions of a document, a folder or a user, newest first, with the lines each added and removed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from garden.events.reader import EventReader
from garden.events.version_texts import VersionTexts
from garden.events.versions import Version, VersionReader
from garden.files.paths import GardenPath
from garden.grammar.line_changes import counts_of_lines
from garden.history.lineage import Lineage
from garden.history.names import unknown_name
from garden.writing.planner import MOVE_OP

# Versions that lie so far apart are rebuilt each by itself.
_GAP_MAX = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class LogQuery:
    """The filters of a log; None does not narrow it. `section` holds its names in events."""

    user_id: str
    path: GardenPath | None = None
    section: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    actor: str | None = None
    text: str | None = None
    limit: int
    before: UUID | None = None


class LoggedVersion(NamedTuple):
    """A version, and how many lines it added and removed; a move adds and removes none."""

    version: Version
    added: int
    removed: int


class LogPage(NamedTuple):
    """Versions, newest first, and whether there are more."""

    versions: list[LoggedVersion]
    has_more: bool


def read_log(versions: VersionReader, reader: EventReader, query: LogQuery) -> LogPage:
    """Read one page of a log; a document is followed to the paths that it was moved from."""
    found = _find(versions, query)
    shown = found[: query.limit]
    counts = _line_counts(reader, query.user_id, shown)
    return LogPage([LoggedVersion(each, *counts[each.event_id]) for each in shown], len(found) > query.limit)


def check_names(
    versions: VersionReader, reader: EventReader, query: LogQuery, declared: Iterable[str]
) -> None:
    """Refuse an actor or a section that no event names; `declared` ones may come."""
    if query.actor is not None:
        actors = reader.names_used(query.user_id)["actor"]
        if query.actor not in actors:
            raise unknown_name("actor", query.actor, actors)
    if query.section is not None:
        path = query.path.text if query.path and not query.path.is_folder else None
        known = {*declared, *versions.sections(query.user_id, path)}
        forms = {form for each in map(str.lower, known) for form in (each, each.rpartition(" v")[0])}
        if forms.isdisjoint(map(str.lower, query.section)):
            raise unknown_name("section", query.section[0], known)


def _find(versions: VersionReader, query: LogQuery) -> list[Version]:
    filters = {
        "section": None if query.section is None else [*query.section, *map(str.lower, query.section)],
        "since": query.since,
        "until": query.until,
        "actor": query.actor,
        "words": query.text.split() if query.text else None,
    }
    user_id, wanted = query.user_id, query.limit + 1
    if query.path is None or query.path.is_folder:
        folder = query.path.text if query.path else None
        return versions.log(user_id, wanted, query.before, folder=folder, **filters)
    found: list[Version] = []
    for path, first, last in Lineage(versions, user_id, query.path.text).segments():
        place = {"path": path, "first": first, "last": last}
        found += versions.log(user_id, wanted - len(found), query.before, **place, **filters)
        if len(found) == wanted:
            break
    return found


def _line_counts(
    reader: EventReader, user_id: str, versions: Sequence[Version]
) -> dict[UUID, tuple[int, int]]:
    counts = {each.event_id: (0, 0) for each in versions}
    changed = sorted((each.path, each.number) for each in versions if each.op != MOVE_OP)
    with reader.snapshot(user_id) as snapshot:
        for path, group in groupby(changed, key=lambda each: each[0]):
            texts = VersionTexts(snapshot, path)
            for first, last in _runs([number for _, number in group]):
                for row, splices in texts.steps(first, last):
                    if row["event_id"] in counts:
                        counts[row["event_id"]] = counts_of_lines(texts.data, splices)
    return counts


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers as ranges that lie far apart."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number - runs[-1][1] <= _GAP_MAX:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs
