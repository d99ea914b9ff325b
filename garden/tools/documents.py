"""Documents for tools that only read."""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from garden.events.database import DatabaseUnavailableError
from garden.events.pool import PoolBusyError
from garden.files.errors import FileMissingError
from garden.files.paths import GardenPath, Place
from garden.grammar.errors import GardenError
from garden.writing.services import Services

if TYPE_CHECKING:
    from garden.files.garden_files import FileText
    from garden.grammar.kinds.declaration import Kind
    from garden.writing.documents import GardenDocument


class FileGoneError(GardenError):
    """The file is missing, but the events hold its text."""

    code: ClassVar[str] = "not_found"

    def __init__(self, version: int) -> None:
        super().__init__(
            f"The file of this document is missing; the event log holds version {version} of it.",
            hint=f"A maintainer can have md.restore ('garden restore') make it anew with version {version}; "
            "its owner can put back a copy from the history or a backup.",
            details={"version": version},
        )


def read_document(services: Services, path: GardenPath) -> "GardenDocument":
    """Read a document or a history copy; if its file is missing, name the version that the events hold."""
    return read_file(services, path)[1]


def read_file(services: Services, path: GardenPath) -> "tuple[FileText, GardenDocument]":
    """Read a document as `read_document` does, with its file."""
    try:
        file = services.files.read(path)
        return file, services.documents.parse_file(path, file)
    except FileMissingError:
        version = _recorded_version(services, path)
        if version is None:
            raise
        raise FileGoneError(version) from None


def warnings_of_copy(services: Services, path: GardenPath, read: "GardenDocument") -> tuple[str, ...]:
    """The warning that a history copy is not what its event left; none for a document."""
    if path.place is not Place.HISTORY_COPY:
        return ()
    from garden.history.copy_checks import copy_warning

    warning = copy_warning(services.reader, path, read.raw_hash)
    return (warning,) if warning else ()


def kinds_of(services: Services, path: GardenPath | None) -> Iterable["Kind"]:
    """The kind of a document, if it has one, or without a path all kinds."""
    documents = services.documents
    return documents.kinds.values() if path is None else filter(None, [documents.kind_of(path)])


def section_names(services: Services, path: GardenPath | None, name: str) -> tuple[str, ...]:
    """The names under which events may record a section that a caller names."""
    from garden.grammar.lookup import anchor_names, find_section

    names = anchor_names(kinds_of(services, path), name)
    if path is not None:
        # A person may have changed the heading.
        with suppress(GardenError):
            names |= {find_section(read_document(services, path).document, name).name}
    return tuple(sorted(names))


def _recorded_version(services: Services, path: GardenPath) -> int | None:
    """Number of the recorded version; None if the events hold no text or the database is unavailable."""
    with suppress(DatabaseUnavailableError, PoolBusyError):
        head = services.reader.head(path.user_id, path.text)
        if head is not None and head.has_file:
            return head.version
    return None
