"""Whether the rows of recall are those of the texts."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from garden.application import Garden
from garden.events.database import connection
from garden.events.passages import PassageRow
from garden.files.paths import GardenPath
from garden.grammar.parser import parse
from garden.home.setup import ensure_database
from garden.passages.extraction import ANALYSIS
from garden.recall.verification import verify

_ROWS = (
    "select p.passage, p.since, p.until, p.day, e.created_at, p.heading from garden.recall_passages as p"
    " left join garden.events as e"
    " on e.user_id = p.user_id and e.event_id = p.event_id and e.status = 'committed'"
    " where p.path = %s"
)


def wrong_passages(garden: Garden, path: str) -> Iterator[str]:
    """Name what is wrong with the rows of a document: those of its newest text, or the day of an event."""
    problem = verify(garden.services, GardenPath(path)).problem
    if problem:
        yield f"{path}: {problem}"
    behind = garden.services.passages.unindexed(GardenPath(path).user_id, ANALYSIS)
    yield from (f"{path}: its rows are behind" for each in behind if each == path)
    undated = {number for number, row in _rows_at(garden, path).items() if not row.is_dated}
    for number, _, until, day, at, _ in ask(garden, _ROWS, path):
        if not until and number in undated and (at is None or day != garden.services.indexing.day(at)):
            yield f"{path}: a passage is of {day}, its event of {at}"


def wrong_earlier_passages(garden: Garden, path: str) -> Iterator[str]:
    """Name the versions whose passages are not those that stood then."""
    rows = ask(garden, _ROWS, path)
    with garden.services.reader.snapshot(GardenPath(path).user_id) as snapshot:
        chain = list(snapshot.rows("versions", {"path": path}))
    for event in chain:
        at, version = event["created_at"], event["document_version"]
        stood = {(row[0], row[5]) for row in rows if row[1] <= at and not (row[2] and row[2] <= at)}
        then = _rows_at(garden, path, version) if event["leaves_file"] else {}
        if stood != {(number, row.heading) for number, row in then.items()}:
            yield f"{path}: other passages stood at version {version}"


def owner_url(garden: Garden) -> str:
    """The database's address for its owner."""
    return ensure_database(garden.settings, garden.home)


def ask(garden: Garden, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """Ask the garden's database, past its rules."""
    with connection(owner_url(garden)) as asking:
        return asking.execute(sql.encode(), values or None).fetchall()


def change(garden: Garden, sql: str, *values: object) -> None:
    """Change the garden's database, past its rules."""
    with connection(owner_url(garden)) as owner:
        owner.execute(sql.encode(), values or None)


def _rows_at(garden: Garden, path: str, version: int | None = None) -> dict[int, PassageRow]:
    """The rows that the text of a version has, or the newest."""
    document, reader = GardenPath(path), garden.services.reader
    head = reader.head(document.user_id, path)
    version = version or (head.version if head and head.has_file else 0)
    text = reader.text_at(document.user_id, path, version) if version else ""
    return garden.services.indexing.rows(document, parse(text), datetime.now(UTC))
