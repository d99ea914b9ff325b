"""Surveys: where the words to erase are, in the event log and on the disk. Nothing here changes anything."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from garden.events.erased_rows import FilledRow, fill_events, fill_notes, gaps_in
from garden.events.reader import EventReader
from garden.events.records import JOURNAL
from garden.events.rows import Row, splices_of
from garden.events.saga import Status
from garden.files.errors import UNREADABLE, FileError, FileMissingError
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.grammar.gaps import Gaps
from garden.grammar.passages import Finder
from garden.grammar.splice import apply_to_bytes

_IDS_AT_ONCE = 500


class UnsearchableError(GardenError):
    """A file can't be searched for the words, so that nothing would be known about it."""

    code: ClassVar[str] = "unavailable"

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"A file can't be searched, so nothing was erased. {message}", hint=hint)


@dataclass(frozen=True)
class Place:
    """A place that holds words to erase: what it is, its document, and how many there are."""

    what: str
    path: str | None
    count: int = 1


@dataclass(frozen=True)
class StreamSurvey:
    """The events of a document, its gaps, and every row that has to lose words."""

    rows: Sequence[Row]
    gaps: Gaps
    filled: Sequence[FilledRow]
    event_ids: Sequence[UUID]

    @property
    def lost_versions(self) -> list[str]:
        """The hashes of the versions that lose words."""
        return [each.lost_version for each in self.filled if each.lost_version]

    def versions(self) -> Iterator[tuple[bytes, bytes]]:
        """Every version as it is recorded, and as it will be with its gaps filled."""
        data = b""
        for row, change in zip(self.rows, self.gaps.filled(), strict=True):
            if row["status"] == Status.COMMITTED and row["document_version"] is not None:
                data = apply_to_bytes(data, splices_of(row) or ())
                yield data, change.text if change.is_near else data


@dataclass(frozen=True)
class Surveyor:
    """Looks for words to erase."""

    reader: EventReader
    files: GardenFiles

    def survey_stream(self, path: GardenPath, finder: Finder) -> StreamSurvey:
        """Look through every event of a document, and through the notes and annotations about it."""
        rows = self.rows_of(path.user_id, path.text)
        gaps = gaps_in(rows, finder)
        events = list(fill_events(rows, gaps, finder))
        with self.reader.snapshot(path.user_id) as snapshot:
            notes = list(snapshot.rows("notes_of_path", {"path": path.text}))
        ids = [row["event_id"] for row in (*rows, *notes)]
        said = [*notes, *self._annotations(path.user_id, ids)]
        return StreamSurvey(
            rows, gaps, [*events, *fill_notes(said, finder, with_hashes=not gaps.is_empty)], ids
        )

    def survey_notes(self, user_id: str, finder: Finder) -> StreamSurvey:
        """Look through the journal and all that was said about its events."""
        rows = self.rows_of(user_id, JOURNAL)
        ids = [row["event_id"] for row in rows]
        said = [*rows, *self._annotations(user_id, ids)]
        return StreamSurvey(rows, gaps_in((), finder), list(fill_notes(said, finder, with_hashes=False)), ids)

    def places_of(self, path: GardenPath, survey: StreamSurvey, finder: Finder) -> Iterator[Place]:
        """List the places of a document."""
        copies = list(self.files.removals.copies_of(path))
        found = {
            "file": self._holds(path, finder),
            "version": sum(each.version_hash is not None for each in survey.filled),
            "copy": sum(self._holds(copy, finder) for copy in copies),
            "unreadable": sum(map(self.is_unreadable, (path, *copies))),
            "stray": sum(bool(finder.find(text)) for text in self.files.strays.texts(path)),
            **count_rows(survey.filled),
        }
        yield from (Place(what, path.text, count) for what, count in found.items() if count)

    def rows_of(self, user_id: str, stream: str) -> list[Row]:
        """The events of a stream as they are stored."""
        with self.reader.snapshot(user_id) as snapshot:
            return list(snapshot.rows("chain", {"stream": stream}))

    def _annotations(self, user_id: str, event_ids: Sequence[UUID]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        with self.reader.snapshot(user_id) as snapshot:
            for at in range(0, len(event_ids), _IDS_AT_ONCE):
                ids = list(event_ids[at : at + _IDS_AT_ONCE])
                found += snapshot.fetch("annotations_of", {"event_ids": ids})
        return found

    def is_unreadable(self, path: GardenPath) -> bool:
        """Whether there is something at a path that no tool can read."""
        try:
            self.files.read(path)
        except UNREADABLE:
            return True
        except FileMissingError:
            return False
        return False

    def _holds(self, path: GardenPath, finder: Finder) -> bool:
        try:
            return bool(finder.find(self.files.read(path).text))
        except (FileMissingError, *UNREADABLE):
            return False
        except FileError as error:
            raise UnsearchableError(f"{path}: {error.message}", error.hint) from error


def count_rows(filled: Sequence[FilledRow]) -> dict[str, int]:
    """Count the rows that lose words: events of the document, notes of the journal, annotations."""
    annotations = sum(each.is_annotation for each in filled)
    notes = sum(not each.is_annotation and each.row["stream"] == JOURNAL for each in filled)
    events = len(filled) - annotations - notes
    return {"event": events, "note": notes, "annotation": annotations}
