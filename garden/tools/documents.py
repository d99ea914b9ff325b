"""A document as it stands, for whoever only looks at it."""

from contextlib import suppress
from typing import ClassVar

from garden.events.database import DatabaseUnavailableError
from garden.events.pool import PoolBusyError
from garden.files.errors import FileMissingError
from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.writing.documents import GardenDocument
from garden.writing.services import Services
from garden.writing.settlement import EMPTY_HASH


class FileGoneError(GardenError):
    """The file is missing, and the account holds what it said."""

    code: ClassVar[str] = "not_found"

    def __init__(self, version: int) -> None:
        super().__init__(
            f"The file of this document is missing, and the account holds version {version} of it.",
            hint=f"A maintainer can have md.restore ('garden restore') make it anew, with version {version}; "
            "its owner can put back a copy from its history or a backup.",
            details={"version": version},
        )


def read_document(services: Services, path: GardenPath) -> GardenDocument:
    """Read a document, or a copy in the history; where it is missing, say what the account has of it."""
    try:
        return services.documents.parse_file(path, services.files.read(path))
    except FileMissingError:
        version = _version_held(services, path)
        if version is None:
            raise
        raise FileGoneError(version) from None


def _version_held(services: Services, path: GardenPath) -> int | None:
    """Tell which version the account holds; none where it holds no text, or can't be asked."""
    with suppress(DatabaseUnavailableError, PoolBusyError):
        head = services.reader.head(path.user_id, path.text)
        if head is not None and head.raw_hash not in {None, EMPTY_HASH}:
            return head.version
    return None
