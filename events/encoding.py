"""The byte string of a value, for seals and fingerprints.

The database returns equal values in other forms (a number without its exponent, a time in another zone, an
object with reordered keys). Equal values give the same bytes.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

_ENCODER = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)
# Most values are of these types and stay as they are. A subclass does not: it has a plain form.
_PLAIN = frozenset({str, int, bool, type(None)})


def encode(value: object) -> bytes:
    """Encode a value as JSON in a form that all equal values share."""
    return _ENCODER.encode(_plain(value)).encode()


def _plain(value: object) -> Any:
    match value:
        case dict():
            return _plain_mapping(value)
        case list() | tuple():
            return [each if type(each) in _PLAIN else _plain(each) for each in value]
        case bytes() | bytearray() | memoryview():
            return {"bytes": bytes(value).hex()}
        case datetime():
            return {"time": value.astimezone(UTC).isoformat(timespec="microseconds")}
        case UUID():
            return {"uuid": value.hex}
        case None | bool() | int():
            return value
        case str():
            return str(value)
        case float():
            # The database gets the shortest form of a float; a whole number comes back exact.
            return int(Decimal(repr(value))) if value.is_integer() else value
        case Mapping():
            return _plain_mapping(value)
    raise TypeError(f"a {type(value).__name__} can't be sealed")


def _plain_mapping(values: Mapping[Any, object]) -> dict[str, Any]:
    return {str(key): each if type(each) in _PLAIN else _plain(each) for key, each in values.items()}
