"""Today and now, where the person is."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from garden.grammar.errors import GardenError


class UnknownZoneError(GardenError):
    """No time zone has this name."""

    code = "invalid_input"


def find_zone(name: str) -> ZoneInfo:
    """Find a time zone by its IANA name, such as Europe/Berlin."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UnknownZoneError(
            f"There is no time zone {name!r}.", hint="Write an IANA name such as Europe/Berlin or UTC."
        ) from None


def today_in(zone: str | None) -> str:
    """Today's date in a time zone, or in the machine's."""
    return datetime.now(find_zone(zone) if zone else None).date().isoformat()


def day_in(zone: str | None, at: datetime) -> date:
    """The date of a time in a time zone, or in the machine's."""
    return at.astimezone(find_zone(zone) if zone else None).date()


def now_in(zone: str | None) -> datetime:
    """The time now, in a time zone or in UTC."""
    return datetime.now(find_zone(zone) if zone else UTC)
