"""An entry of a foreign export: one memory, or one whole document."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime
from typing import Any

from garden.grammar.errors import GardenError


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One memory or document, with its id and times in the source.

    A `place` names folders and the document as the source does; without one the entry is a memory. A reader
    gives the `skip_reason` of one that is not to be imported, and the `refusal` of one that it can't read.
    """

    id: str
    text: str = ""
    place: tuple[str, ...] = ()
    at: datetime | None = None
    changed_at: datetime | None = None
    tags: tuple[str, ...] = ()
    is_chat: bool = False
    skip_reason: str | None = None
    refusal: GardenError | None = None


def text_in(record: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is a text with words."""
    values = (record.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value.strip()), "")


def records_in(value: object) -> list[dict[str, Any]]:
    """The objects of a JSON list; anything else in it, or in its place, is no record."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def object_in(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The JSON object in a field, or an empty one."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def list_in(record: Mapping[str, Any], name: str) -> list[Any]:
    """The JSON list in a field, or an empty one."""
    value = record.get(name)
    return value if isinstance(value, list) else []


def time_of(value: object) -> datetime | None:
    """A time in seconds since 1970, or as ISO 8601 writes it; one without an offset is in UTC."""
    try:
        if isinstance(value, int | float):
            time = datetime.fromtimestamp(value, UTC)
        else:
            time = datetime.fromisoformat(str(value).strip())
            time = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    # A zone may move the first and the last days out of the calendar.
    return time if 1 < time.year < MAXYEAR else None


def time_in(record: Mapping[str, Any], *names: str) -> datetime | None:
    """The first of these fields that is a time."""
    return next(filter(None, (time_of(record.get(name)) for name in names)), None)
