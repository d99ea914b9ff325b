"""Event ids: UUIDs of version 7, which sort by creation time."""

import secrets
from datetime import UTC, datetime, timedelta
from uuid import UUID

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_RANDOM_BITS = 62
# Twelve bits follow the milliseconds; four steps a microsecond fill them evenly enough.
_STEPS_PER_MICROSECOND = 4


def uuid7(at: datetime) -> UUID:
    """Make an id that sorts by its time, to the microsecond."""
    return UUID(int=earliest_uuid7(at).int | secrets.randbits(_RANDOM_BITS))


def earliest_uuid7(at: datetime) -> UUID:
    """The id that sorts before every other id of that time."""
    milliseconds, microseconds = divmod((at - _EPOCH) // _MICROSECOND, 1000)
    return UUID(
        int=milliseconds << 80 | 7 << 76 | (microseconds * _STEPS_PER_MICROSECOND) << 64 | 2 << _RANDOM_BITS
    )
