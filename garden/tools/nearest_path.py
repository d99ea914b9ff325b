"""The nearest real path to one that leads nowhere."""

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from garden.events.records import Caller
from garden.files.errors import FileMissingError
from garden.files.paths import GardenPath, PathNotAllowedError
from garden.grammar.refusals import NoDocumentError
from garden.tools.request_paths import paths_in
from garden.tools.wire import Request
from garden.writing.services import Services

_CHARACTERS_MAX = 300
_COMPARED_MAX = 1000


@contextmanager
def naming_nearest_path(services: Services, caller: Caller, request: Request) -> Iterator[None]:
    """Let an error about a path that leads nowhere name the one of the caller's garden that is like it."""
    try:
        yield
    except (FileMissingError, NoDocumentError, PathNotAllowedError) as error:
        garden = GardenPath(f"users/{caller.user_id}")
        given = [path for path in paths_in(request) if path.startswith(f"{garden}/")]
        if given and max(map(len, given)) < _CHARACTERS_MAX:
            documents = islice(services.files.documents(garden, lambda *_: None), _COMPARED_MAX)
            known = {each.text: None for path in documents for each in (path, path.folder)}
            wrong = next((path for path in given if path not in known), "")
            for nearest in difflib.get_close_matches(wrong, known, n=1, cutoff=0.85):
                error.hint = f"Did you mean {nearest}?"
        raise
