"""Comparing the rows of recall with what the documents say."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

from garden.events.passages import PassageRow
from garden.events.records import Head
from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.recall.rebuilding import DocumentRows
from garden.writing.services import Services

_COMPARED = tuple(name for name in PassageRow._fields if name not in {"passage", "day", "was", "is_dated"})


def verify(services: Services, path: GardenPath) -> DocumentRows:
    """Compare the rows of a document with its text; that of a file with an outside edit is in the events."""
    while True:
        head = services.reader.head(path.user_id, path.text)
        stored = services.passages.live_rows(path.user_id, path.text)
        if head == services.reader.head(path.user_id, path.text):
            break
    rows = {each.row.passage: each.row for each in stored}
    try:
        problem = _difference(_expected(services, path, head or Head()), rows)
    except GardenError as error:
        problem = f"it can't be compared: {error.message}"
    return DocumentRows(path.text, len(rows), problem)


def _expected(services: Services, path: GardenPath, head: Head) -> dict[int, PassageRow]:
    if not head.has_file:
        return {}
    text = None
    with suppress(GardenError):
        file = services.files.read(path)
        text = file.text if file.hash == head.raw_hash else None
    if text is None:
        text = services.reader.text_at(path.user_id, path.text, head.version)
    return services.indexing.rows(path, services.documents.parse_text(path, text).document, datetime.now(UTC))


def _difference(expected: Mapping[int, PassageRow], rows: Mapping[int, PassageRow]) -> str:
    """Say which passage is the first, in the order of the text, whose row is not as it should be."""
    for number, row in expected.items():
        if number not in rows:
            return f"the passage #{row.anchor}/{row.name} is missing"
        for column in (*_COMPARED, "day") if row.is_dated else _COMPARED:
            if getattr(rows[number], column) != getattr(row, column):
                return f"the passage #{row.anchor}/{row.name} has another {column.replace('_', ' ')}"
    for number, row in rows.items():
        if number not in expected:
            return f"the passage #{row.anchor}/{row.name} is not in its text"
    return ""
