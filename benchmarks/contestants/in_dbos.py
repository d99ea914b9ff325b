"""A durable workflow with dbos: it records the request, each of two steps, and the end.

The steps are those of the floor: a synced copy of the old version, and a synced replacement.
"""

import secrets
from pathlib import Path

from dbos import DBOS
from in_floor import put, replace


class Contestant:
    """A workflow over files in a folder."""

    def __init__(self, folder: Path, database: str) -> None:
        self._folder = folder
        url = database.replace("postgresql://", "postgresql+psycopg://")
        DBOS(config={"name": "bench", "system_database_url": url, "log_level": "ERROR"})
        DBOS.launch()

    def edit(self, document: str, anchor: str, old: str, new: str) -> None:  # noqa: ARG002 - no sections here
        _edit(str(self._folder / document), old, new)

    def read(self, document: str) -> str:
        return (self._folder / document).read_text()


@DBOS.workflow()  # type: ignore[untyped-decorator]
def _edit(file: str, old: str, new: str) -> None:
    _keep_copy(file)
    _replace(file, old, new)


@DBOS.step()  # type: ignore[untyped-decorator]
def _keep_copy(file: str) -> None:
    live = Path(file)
    put(live.with_name(f"copy-{secrets.token_hex(8)}.md"), live.read_bytes())


@DBOS.step()  # type: ignore[untyped-decorator]
def _replace(file: str, old: str, new: str) -> None:
    live = Path(file)
    replace(live, live.read_bytes().replace(old.encode(), new.encode()))
