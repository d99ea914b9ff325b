"""One byte string for one value: what seals and fingerprints are computed over.

A value comes back from the database in other clothes (a number that has lost its exponent, a time in another
zone, an object with its keys reordered), and still has to give the same bytes.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

_ENCODER = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)
# These are their own plain form, and most of all values. Exact types: a subclass has a form of its own.
_PLAIN = frozenset({str, int, bool, type(None)})


def encode(value: object) -> bytes:
    """Write a value as JSON in the one form that its equals have too."""
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
            # The shortest form of a float is what the database gets; as a whole number it comes back exact.
            return int(Decimal(repr(value))) if value.is_integer() else value
        case Mapping():
            return _plain_mapping(value)
    raise TypeError(f"a {type(value).__name__} can't be sealed")


def _plain_mapping(values: Mapping[Any, object]) -> dict[str, Any]:
    return {str(key): each if type(each) in _PLAIN else _plain(each) for key, each in values.items()}
