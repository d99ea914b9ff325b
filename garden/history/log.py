"""The versions of a document, a folder or a user, newest first, with the lines each added and removed."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from garden.events.reader import EventReader, Query
from garden.events.version_texts import VersionTexts
from garden.events.versions import Version, VersionReader
from garden.files.paths import GardenPath
from garden.grammar.line_changes import counts_of_lines
from garden.history.lineage import Lineage
from garden.history.names import unknown_name
from garden.writing.planner import MOVE_OP
from garden.writing.services import Services

# Versions that lie so far apart are rebuilt each by itself.
_GAP_MAX = 50


class LoggedVersion(NamedTuple):
    """A version, and how many lines it added and removed; a move adds and removes none."""

    version: Version
    added: int
    removed: int


class LogPage(NamedTuple):
    """Versions, newest first, and whether there are more."""

    versions: list[LoggedVersion]
    has_more: bool


def read_log(services: Services, user_id: str, path: GardenPath | None, query: Query) -> LogPage:
    """Read one page of a log; a document is followed to the paths that it was moved from."""
    found = _find(services.versions, user_id, path, query)
    shown = found[: query.limit]
    counts = _line_counts(services.reader, user_id, shown)
    return LogPage([LoggedVersion(each, *counts[each.event_id]) for each in shown], len(found) > query.limit)


def check_names(
    services: Services, user_id: str, document: str | None, query: Query, declared: Iterable[str]
) -> None:
    """Refuse an actor or a section that no event names; `declared` ones may come."""
    if query.actor is not None:
        actors = services.reader.names_used(user_id)["actor"]
        if query.actor not in actors:
            raise unknown_name("actor", query.actor, actors)
    if query.section is not None:
        known = {*declared, *services.versions.sections(user_id, document)}
        forms = {form for each in map(str.lower, known) for form in (each, each.rpartition(" v")[0])}
        if forms.isdisjoint(map(str.lower, query.section)):
            raise unknown_name("section", query.section[0], known)


def _find(versions: VersionReader, user_id: str, path: GardenPath | None, query: Query) -> list[Version]:
    """Find one version more than wanted."""
    left = query.limit + 1
    if path is None or path.is_folder:
        return versions.log(user_id, replace(query, limit=left), folder=path.text if path else None)
    found: list[Version] = []
    for at, first, last in Lineage(versions, user_id, path.text).segments():
        here = replace(query, limit=left - len(found))
        found += versions.log(user_id, here, path=at, first=first, last=last)
        if len(found) == left:
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
