"""What is looked up by its name and is no tool's answer: a whole text, a text at one version, one event."""

from dataclasses import dataclass
from uuid import UUID

from garden.events.records import Caller
from garden.events.views import EventView, annotated
from garden.files.paths import parse_path
from garden.grammar.canonical import content_hash
from garden.tools.documents import standing_of
from garden.tools.places import file_to_read
from garden.writing.services import Services
from garden.writing.versions import EventNotFoundError


@dataclass(frozen=True)
class WholeText:
    """A text from its first byte to its last, and the hash that `ifMatch` takes."""

    text: str
    hash: str


class Lookups:
    """Finds what a caller names, in the caller's own garden."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def text(self, caller: Caller, path: str) -> WholeText:
        """Read a whole document, or a copy in the history, of whatever length."""
        place = file_to_read(caller, path)
        standing = standing_of(self._services, place)
        return WholeText(standing.text, standing.document.hash)

    def version(self, caller: Caller, path: str, number: int) -> WholeText:
        """Rebuild what a document said at one version, from its events."""
        place = parse_path(path, owner=caller.user_id)
        text = self._services.reader.text_at(caller.user_id, place.text, number)
        return WholeText(text, content_hash(text))

    def event(self, caller: Caller, event_id: str) -> EventView:
        """Find one event, with what was said about it later."""
        found = self._services.reader.event(caller.user_id, _id_of(event_id))
        if found is None:
            raise _no_event()
        return annotated(self._services.reader, caller.user_id, [found])[0]


def _id_of(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise _no_event() from None


def _no_event() -> EventNotFoundError:
    return EventNotFoundError(
        "There is no event of this id.", hint="events.query finds those that there are."
    )
