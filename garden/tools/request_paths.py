"""The path in a request, parsed and checked for what the tool may work on."""

from garden.events.records import Caller
from garden.files.paths import GardenPath, PathNotAllowedError, Place, parse_path

_NO_DOCUMENT = "it is a folder, and this tool works on documents"
_NO_FOLDER = "it is a document, and this tool works on folders"


def document_path(caller: Caller, text: str) -> GardenPath:
    """Path of a document in the garden."""
    return _writable(_path_to(caller, text, {Place.DOCUMENT, Place.HISTORY_COPY}, _NO_DOCUMENT))


def document_or_copy_path(caller: Caller, text: str) -> GardenPath:
    """Path of a document, or of a copy in the history."""
    return _path_to(caller, text, {Place.DOCUMENT, Place.HISTORY_COPY}, _NO_DOCUMENT)


def folder_path(caller: Caller, text: str) -> GardenPath:
    """Path of a folder in the garden or its history."""
    return _path_to(caller, text, {Place.FOLDER, Place.HISTORY_FOLDER}, _NO_FOLDER)


def new_folder_path(caller: Caller, text: str) -> GardenPath:
    """Path of a folder in the garden."""
    return _writable(folder_path(caller, text))


def _path_to(caller: Caller, text: str, places: set[Place], problem: str) -> GardenPath:
    path = parse_path(text, owner=caller.user_id)
    if path.place not in places:
        raise PathNotAllowedError(problem)
    return path


def _writable(path: GardenPath) -> GardenPath:
    if not path.is_writable:
        raise PathNotAllowedError("no tool writes to the history")
    return path
