"""What names a version of a document: a number, an event, a time, or a count back from the newest."""

import re
from datetime import datetime
from typing import ClassVar

from garden.events.versions import Version
from garden.grammar.errors import GardenError
from garden.history.lineage import Lineage
from garden.home.times import parse_time

FORMS = (
    "a number (12, v12), an event id or at least its last 6 characters, a time (2026-11-01, yesterday, "
    "3 weeks ago, 3d), head, head~2 or now"
)
_BACK = re.compile(r"(?:now|head(?:~([0-9]{0,9}))?)")
_NUMBER = re.compile(r"(v?)([0-9]{1,12})")
_ID = re.compile(r"(?:evt:)?([0-9a-f-]{6,36})")


class NoSuchVersionError(GardenError):
    """The document has no version of this name."""

    code: ClassVar[str] = "not_found"


class InvalidReferenceError(GardenError):
    """No version can have this name."""

    code: ClassVar[str] = "invalid_input"


def find_version(lineage: Lineage, reference: str, now: datetime) -> Version:
    """Find the version that a text names; digits are an existing version's number first, then an id."""
    words = " ".join(reference.casefold().split())
    if back := _BACK.fullmatch(words):
        count = 0 if back[1] is None else int(back[1] or 1)
        return lineage.back(count) or _refuse_missing(lineage, f"There is no version {reference}.")
    number, event = _NUMBER.fullmatch(words), _ID.fullmatch(words)
    found = (number and lineage.numbered(int(number[2]))) or (event and _event_version(lineage, event[1]))
    if found:
        return found
    if number and (number[1] or not event):
        _refuse_missing(lineage, f"{lineage.path} has no version {number[2]}.")
    return _version_of_time(lineage, reference, now, is_id=bool(event))


def _event_version(lineage: Lineage, ending: str) -> Version | None:
    found = lineage.event(ending)
    if found and (found.status != "committed" or not found.number):
        _refuse_missing(lineage, f"Event {found.event_id} left no version of this document.")
    return found


def _version_of_time(lineage: Lineage, reference: str, now: datetime, *, is_id: bool) -> Version:
    try:
        time = parse_time(reference, now)
    except ValueError:
        if is_id:
            _refuse_missing(lineage, f"No event of {lineage.path} has or ends in the id {reference!r}.")
        raise InvalidReferenceError(
            f"{reference[:80]!r} does not name a version.", hint=f"Name it by {FORMS}. {_newest(lineage)}"
        ) from None
    found = lineage.at(time)
    if found is None:
        first = lineage.first().time.astimezone(now.tzinfo)
        raise NoSuchVersionError(
            f"The event log has no version of {lineage.path} from before that time.",
            hint=f"Its first version is of {first:%Y-%m-%d %H:%M:%S %z}.",
        )
    return found


def _refuse_missing(lineage: Lineage, message: str) -> Version:
    raise NoSuchVersionError(message, hint=f"{_newest(lineage)} Name a version by {FORMS}.")


def _newest(lineage: Lineage) -> str:
    newest = lineage.head()
    return f"The newest version is {newest.number}, by event {newest.event_id}."
