"""Times as people write them: ISO, a date, `yesterday`, `3d`, `3 weeks ago`."""

import re
from datetime import datetime, time, timedelta

FORMS = "2026-11-18T08:25:00Z, 2026-11-18, yesterday, 3d or 3 weeks ago"

_AGO = re.compile(r"([0-9]{1,5}|an?) ?(s|m|h|d|w|second|minute|hour|day|week)s?(?: ago)?")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAYS_AGO = {"today": 0, "yesterday": 1}


def parse_expiry(text: str, now: datetime) -> datetime:
    """Parse a time to come: a time or date, or how far off it is, such as 30d or 3 weeks."""
    age = _AGO.fullmatch(" ".join(text.lower().split()))
    if age is None or "ago" in text.lower():
        return parse_time(text, now)
    return now + (now - parse_time(text, now))


def parse_time(text: str, now: datetime) -> datetime:
    """Parse a time, a date or an age; a time without an offset is in the zone of `now`."""
    words = " ".join(text.lower().split())
    try:
        if words in _DAYS_AGO:
            day = now.date() - timedelta(days=_DAYS_AGO[words])
            return datetime.combine(day, time(), now.tzinfo)
        if ago := _AGO.fullmatch(words):
            count = int(ago[1]) if ago[1].isdigit() else 1
            return now - timedelta(**{_UNITS[ago[2][0]]: count})
        given = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise ValueError(f"it is not a time; write {FORMS}") from None
    return given.replace(tzinfo=now.tzinfo) if given.tzinfo is None else given
