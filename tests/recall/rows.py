"""The stored rows of recall, read and changed behind the program's back."""

from typing import Any

from garden.application import Garden
from garden.events.database import connection
from tests.support.recalled import owner_url

_ROWS = b"""
select user_id, passage, since, until, path, anchor, name, heading, language, previous, event_id, day, tags,
       priority, summary_type, period_key, text, words
from garden.recall_passages order by path, since, passage"""
_EMPTY = b"truncate garden.recall_documents, garden.recall_passages"


def stored_rows(garden: Garden) -> list[tuple[Any, ...]]:
    """Every row, without its vector and without what tells of the last change."""
    with connection(owner_url(garden)) as asking:
        return [tuple(row) for row in asking.execute(_ROWS).fetchall()]


def change_rows(garden: Garden, statement: bytes = _EMPTY) -> None:
    """Change the rows as a broken program or disk would; without a statement they all go."""
    with connection(owner_url(garden)) as asking:
        asking.execute(statement)
