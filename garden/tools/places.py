"""From the path in a request to a place that the tool may work on."""

from garden.events.records import Caller
from garden.files.paths import GardenPath, PathNotAllowedError, Place, parse_path

_FILES = frozenset({Place.DOCUMENT, Place.HISTORY_COPY})
_FOLDERS = frozenset({Place.FOLDER, Place.HISTORY_FOLDER})


def file_to_read(caller: Caller, text: str) -> GardenPath:
    """A document, or a copy in the history."""
    return _one_of(caller, text, _FILES, "a folder is meant here, and this tool works on documents")


def folder_to_list(caller: Caller, text: str) -> GardenPath:
    """A folder of the garden or of its history."""
    return _one_of(caller, text, _FOLDERS, "a document is meant here, and this tool works on folders")


def place_to_search(caller: Caller, text: str) -> GardenPath:
    """A folder or a file."""
    return parse_path(text, owner=caller.user_id)


def document_to_edit(caller: Caller, text: str) -> GardenPath:
    """A document of the garden itself."""
    path = parse_path(text, owner=caller.user_id)
    if not path.is_writable:
        raise PathNotAllowedError("history is written by no tool")
    return _one_of(
        caller, text, frozenset({Place.DOCUMENT}), "a folder is meant, and this tool works on documents"
    )


def folder_to_make(caller: Caller, text: str) -> GardenPath:
    """A folder of the garden itself."""
    path = folder_to_list(caller, text)
    if not path.is_writable:
        raise PathNotAllowedError("history is written by no tool")
    return path


def _one_of(caller: Caller, text: str, wanted: frozenset[Place], otherwise: str) -> GardenPath:
    path = parse_path(text, owner=caller.user_id)
    if path.place not in wanted:
        raise PathNotAllowedError(otherwise)
    return path
