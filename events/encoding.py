"""The byte string of a value, for seals and fingerprints.

The database returns equal values in other forms (a number without its exponent, a time in another zone, an
object with reordered keys). Equal values give the same bytes. The names in an object are strings.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from json import JSONEncoder
from typing import Any
from uuid import UUID

# A whole number that Python writes with a fraction or an exponent; a text may look alike.
_WHOLE_FLOAT = re.compile(r"\.0(?=[],}]|$)|e\+")


def encode(value: object) -> bytes:
    """Encode a value as JSON in a form that all equal values share."""
    text = _ENCODER.encode(value)
    # Only values with such numbers need the slow way through all of them.
    if (".0" in text or "e+" in text) and _WHOLE_FLOAT.search(text):
        text = _ENCODER.encode(_with_whole_numbers(value))
    return text.encode()


def _plain(value: object) -> Any:
    match value:
        case bytes() | bytearray() | memoryview():
            return {"bytes": value.hex()}
        case datetime():
            return {"time": value.astimezone(UTC).isoformat(timespec="microseconds")}
        case UUID():
            return {"uuid": value.hex}
        case Mapping():
            return dict(value)
    raise TypeError(f"a {type(value).__name__} can't be sealed")


def _with_whole_numbers(value: object) -> Any:
    match value:
        case Mapping():
            return {key: _with_whole_numbers(each) for key, each in value.items()}
        case list() | tuple():
            return [_with_whole_numbers(each) for each in value]
        case float() if value.is_integer():
            # The database gets the shortest form of a float; a whole number comes back exact.
            return int(Decimal(repr(value)))
    return value


_ENCODER = JSONEncoder(
    sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False, default=_plain
)
