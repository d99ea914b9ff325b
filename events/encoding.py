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


def encode(value: object) -> bytes:
    """Write a value as JSON in the one form that its equals have too."""
    plain = _plain(value)
    return json.dumps(
        plain, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False
    ).encode()


def _plain(value: object) -> Any:
    match value:
        case None | bool() | int():
            return value
        case str():
            return str(value)
        case float():
            # The shortest form of a float is what the database gets; as a whole number it comes back exact.
            return int(Decimal(repr(value))) if value.is_integer() else value
        case bytes() | bytearray() | memoryview():
            return {"bytes": bytes(value).hex()}
        case datetime():
            return {"time": value.astimezone(UTC).isoformat(timespec="microseconds")}
        case UUID():
            return {"uuid": value.hex}
        case Mapping():
            return {str(key): _plain(each) for key, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
    raise TypeError(f"a {type(value).__name__} can't be sealed")
