"""Documents that adapters keep: begun, added to, and changed without losing what others write meanwhile."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar
from uuid import uuid4

from garden.grammar.errors import GardenError
from garden.integrations.message_items import plain_words
from garden.integrations.opening import NO_DOCUMENT, UserGarden

_TRIES_MAX = 50

_Result = TypeVar("_Result")


class BusyDocumentError(GardenError):
    """Others change the document so often that a change never fits."""

    code = "in_progress"


def unless_missing(work: Callable[[], _Result]) -> _Result | None:
    """Do some work, which returns nothing if the document does not exist."""
    try:
        return work()
    except GardenError as error:
        if error.code != "not_found":
            raise
        return None


def text_or_nothing(opening: UserGarden, path: str) -> str:
    """Read a document; a missing one is as an empty one."""
    return _read(opening, path)[0]


def write_text(opening: UserGarden, path: str, text: str, if_match: str, rationale: str, **keys: str) -> bool:
    """Write a document; returns whether it still had this hash, and so was written."""
    fields = {"path": path, "content": text, "ifMatch": if_match, "rationale": rationale, **keys}
    try:
        opening.ask("fs.write", fields)
    except GardenError as error:
        if error.code != "precondition_failed":
            raise
        return False
    return True


def append_text(opening: UserGarden, path: str, text: str, *, title: str, key: str) -> None:
    """Add a text at the end of a document, which is begun with a title if it is missing."""
    fields = {"path": path, "text": text, "idempotencyKey": key}
    try:
        opening.ask("fs.append", fields)
    except GardenError as error:
        if error.code != "not_found":
            raise
        heading = f"# {' '.join(plain_words(title).split()) or 'Untitled'}\n"
        # If another writer has just begun it, this goes below.
        write_text(opening, path, heading, NO_DOCUMENT, "It begins with its first entry.")
        opening.ask("fs.append", fields)


def change_text(opening: UserGarden, path: str, change: Callable[[str], str], rationale: str) -> None:
    """Replace a document's text by what `change` makes of it, once more if it was changed meanwhile.

    A missing document is as an empty one.
    """
    for _ in range(_TRIES_MAX):
        text, read_hash = _read(opening, path)
        new = change(text)
        # Two writers that make the same change at once are two: the second is refused, and is no replay.
        if new == text or write_text(opening, path, new, read_hash, rationale, idempotencyKey=uuid4().hex):
            return
    raise BusyDocumentError(f"{path} keeps changing.", hint="Send the same request again in a moment.")


def _read(opening: UserGarden, path: str) -> tuple[str, str]:
    return unless_missing(partial(opening.text_of, path)) or ("", NO_DOCUMENT)
