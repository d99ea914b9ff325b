"""Indexing: what a change does to the passages that recall can find."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime

from garden.events.keyring import Keyring
from garden.events.passages import PassageChanges, PassageRow, changes_json
from garden.files.paths import GardenPath
from garden.grammar.document import Document
from garden.home.keys import KeysUnavailableError
from garden.home.local_day import day_in
from garden.home.logs import get_logger
from garden.passages.naming import Naming
from garden.passages.rows import changes_between, rows_of
from garden.writing.documents import Documents


@dataclass(frozen=True)
class Indexing:
    """Works out the rows of passages, with the names and the days of this garden."""

    documents: Documents
    keys: Callable[[], Keyring]
    timezone: str | None
    language: str | None

    def changes(
        self,
        path: GardenPath,
        before: Document | None,
        after: Document | None,
        version: int,
        at: datetime,
        came_from: str | None = None,
    ) -> PassageChanges:
        """What the change to this version removes and brings; the document may come from another path."""
        kind, naming = self.documents.kind_of(path), self.naming
        changes = changes_between(
            before, after, kind, path.text, version, self.day(at), naming, self.language
        )
        if came_from is None:
            return changes
        # The rows of the other path go with its own event.
        come = (row._replace(was=naming.number(came_from, row.anchor, row.name)) for row in changes.come)
        return changes._replace(come=tuple(come))

    def encoded_changes(
        self,
        path: GardenPath,
        before: Document | None,
        after: Document | None,
        version: int,
        at: datetime,
        came_from: str | None = None,
    ) -> str | None:
        """The changes for the step that seals this version; None if they could not be worked out.

        A fault in that must not hold up the change itself: the rows stay behind, and are made again later.
        Without the keys nothing can be sealed, so their error is passed on.
        """
        try:
            return changes_json(self.changes(path, before, after, version, at, came_from), at)
        except KeysUnavailableError:
            raise
        except Exception:  # noqa: BLE001 - the text is the person's, and its rows are not
            log_unread(path)
            return None

    def rows(self, path: GardenPath, document: Document, at: datetime) -> dict[int, PassageRow]:
        """The rows of a whole document, with the day of this time where the text names none."""
        kind = self.documents.kind_of(path)
        return rows_of(document, kind, path.text, self.day(at), self.naming, self.language)

    def day(self, at: datetime) -> date:
        """The day of a time, where the person is."""
        return day_in(self.timezone, at)

    @property
    def naming(self) -> Naming:
        """Gives the passages of this garden their names."""
        return Naming.of(self.keys())


def log_unread(path: GardenPath) -> None:
    """Log the error being handled: the passages of a document could not be read."""
    get_logger("garden.recall").error("passages not read", path=path.text, exception=traceback.format_exc())
