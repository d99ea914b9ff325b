"""All that a garden stores, as one text, to look for words in it."""

import json

from garden.application import Garden
from garden.events.database import connection


def texts_of(garden: Garden) -> dict[str, str]:
    """Every file below `users/` and `history/`."""
    home = garden.home.path
    found = [path for top in ("users", "history") for path in (home / top).rglob("*") if path.is_file()]
    return {str(path.relative_to(home)): path.read_text() for path in found}


def dump(database: str) -> str:
    """Every row of every table of the garden, as text."""
    with connection(database) as opened:
        names = opened.execute(
            "select format('%I.%I', schemaname, tablename) from pg_tables where schemaname = 'garden'"
        ).fetchall()
        found = [opened.execute(f"select to_jsonb(t) from {name} as t").fetchall() for (name,) in names]
        changes = opened.execute(
            "select convert_from(unnest(splices_removed || splices_inserted), 'utf8') from garden.events"
        ).fetchall()
    return json.dumps([found, changes], default=str)


def everything(garden: Garden, database: str) -> str:
    """All that is stored, without regard to case and white space."""
    text = json.dumps(texts_of(garden)) + dump(database)
    for escape in ("\\\\", "\\t", "\\n"):
        text = text.replace(escape, " ")
    return " ".join(text.casefold().split())
