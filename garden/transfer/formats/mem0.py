"""mem0: memories as `get_all` gives them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from garden.transfer.formats.entry import Entry, list_in, records_in, text_in, time_in
from garden.transfer.formats.source import ForeignExportError, open_source

_LISTS = ("results", "memories")


def read_mem0(file: Path) -> Iterator[Entry]:
    """Read the memories of one person; a file with those of several is refused."""
    with open_source(file) as source:
        contents = [source.json(name) for name in source.files if name.endswith(".json")]
    records = [record for content in contents for record in _records(content)]
    if not any("memory" in record for record in records):
        raise ForeignExportError(
            "This is no export of mem0: it has no memories.",
            hint="Save what get_all() returns as JSON.",
        )
    persons = {text_in(record, "user_id") for record in records} - {""}
    if len(persons) > 1:
        raise ForeignExportError(
            f"The memories are those of {len(persons)} users.", hint="Export one user_id at a time."
        )
    for record in records:
        text = text_in(record, "memory")
        yield Entry(
            id=text_in(record, "id", "memory") or "a memory",
            text=text,
            at=time_in(record, "created_at"),
            changed_at=time_in(record, "updated_at"),
            tags=tuple(each for each in list_in(record, "categories") if isinstance(each, str)),
        )


def _records(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, dict):
        content = next((content[name] for name in _LISTS if name in content), None)
    return records_in(content)
