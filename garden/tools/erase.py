"""`garden.erase`, for maintainers: words that must go leave every place at once."""

from typing import Any, ClassVar

from pydantic import Field, StrictBool

from garden.events.wire import Wire
from garden.tools.declaration import MAINTAINERS, Call, Reply, Tool, Traits
from garden.tools.request_paths import document_path
from garden.tools.wire import Reason, Request, is_absent
from garden.writing.erasing.eraser import ErasureReport
from garden.writing.erasing.wishes import PASSAGE_CHARACTERS_MAX, ErasureWish

_NOTHING = "Nothing here holds these words; nothing was recorded."
_TAKEN = (
    "This document was at {path} before, and another one is there now. Its earlier versions there stay "
    "until that document is erased, or their passages are."
)
_SHORT = (
    "This passage has fewer than 3 words and fewer than 12 characters. It is too short for a fingerprint, so "
    "nothing keeps it from being written again."
)

_UNREAD = "A file of {path} can't be read. It was not searched, and goes only with its document or user."


class EraseRequest(Request):
    """What to erase: a document, a passage, or everything of the user."""

    words_to_remove: ClassVar[frozenset[str]] = frozenset({"text"})

    path: str | None = Field(None, description="The document; alone, it goes as a whole.")
    text: str | None = Field(
        None,
        min_length=1,
        max_length=PASSAGE_CHARACTERS_MAX,
        description="The passage, in one document or, without path, in all of them.",
    )
    everything: StrictBool = Field(False, description="All that the user has.")
    reason: Reason = Field(min_length=1, description="Why, without the words themselves.")
    preview: StrictBool = Field(False, description="Only list the places.")


class ErasedPlace(Wire):
    """A place with such words: file, version, copy, stray, event, note, annotation or answer.

    `other` counts the files beside a user's documents, which no tool sees and which stay. `unreadable` counts
    files that can't be searched for a passage; they go only with their document or user.
    """

    what: str
    path: str | None
    count: int


class Erased(Wire):
    """The places, the numbers of events and bytes, and the id of the tombstone unless it is a preview."""

    places: tuple[ErasedPlace, ...]
    events: int
    bytes: int
    tombstone: str | None = Field(None, exclude_if=is_absent)


def erase(call: Call, request: EraseRequest) -> Reply:
    """Erase, or list what would be erased."""
    path = document_path(call.caller, request.path) if request.path is not None else None
    wish = ErasureWish(request.reason, path, request.text, request.everything)
    # Calls that wait for their batch hold words too.
    call.services.calls.flush()
    run = call.services.eraser.preview if request.preview else call.services.eraser.erase
    report = run(call.caller, wish)
    warnings = [_NOTHING] if not report.places else [_SHORT] if wish.is_forgotten else []
    warnings += [_TAKEN.format(path=each) for each in report.taken]
    if wish.passage is not None:
        unread = {each.path for each in report.places if each.what == "unreadable"}
        warnings += [_UNREAD.format(path=each) for each in sorted(filter(None, unread))]
    return Reply(_result(report), {"preview": True} if request.preview else {}, tuple(warnings))


def _result(report: ErasureReport) -> dict[str, Any]:
    return {
        "places": [{"what": each.what, "path": each.path, "count": each.count} for each in report.places],
        "events": report.events,
        "bytes": report.bytes,
        "tombstone": str(report.erasure.erasure_id) if report.erasure else None,
    }


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "garden.erase",
        "Erase words",
        "Erase a passage, a document or a user from files, versions, copies, events and answers.",
        "A path alone erases the document, text alone a passage in all documents, both a passage in one "
        "document. A passage is found without regard to case, width, invisible characters and white space; "
        "one of fewer than 12 characters only as whole words. Look at a preview first: an erasure can't be "
        "undone. Earlier versions keep their length, with a letter for each erased byte. A sealed tombstone "
        "stays, and the words are refused from then on. Backups and exports are out of reach.",
        EraseRequest,
        Erased,
        erase,
        Traits(writes=True, maintains=True, replaces=True, roles=MAINTAINERS, cost="many_documents"),
        {"text": "the words to erase", "reason": "It was told in confidence.", "preview": True},
    ),
)
