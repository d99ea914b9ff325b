"""The path in a request, parsed and checked for what the tool may work on."""

from collections.abc import Iterator

from garden.events.records import Caller
from garden.files.declared_paths import DeclaredPaths
from garden.files.paths import GardenPath, PathNotAllowedError, Place, parse_path
from garden.tools.wire import Request

_NO_DOCUMENT = "it is a folder, and this tool works on documents"
_NO_FOLDER = "it is a document, and this tool works on folders"
_PATH_FIELDS = ("path", "new_path", "file_path", "root", "roots", "paths")


def check_paths(caller: Caller, request: Request, declared: DeclaredPaths) -> None:
    """Refuse a request with a path outside the caller's own garden, or that no kind declares."""
    for text in paths_in(request):
        declared.check(parse_path(text, owner=caller.user_id))


def paths_in(request: Request) -> Iterator[str]:
    """The paths that a request names."""
    for name in _PATH_FIELDS:
        given = getattr(request, name, None)
        yield from (given,) if isinstance(given, str) else given or ()


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
