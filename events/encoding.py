"""The byte string of a value, for seals and fingerprints.

The database returns equal values in other forms (a number without its exponent, a time in another zone, an
object with reordered keys). Equal values give the same bytes. The names in an object are strings.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

# A whole number that Python writes with a fraction or an exponent; a text may look alike.
_WHOLE_FLOAT = re.compile(r"\.0(?=[],}]|$)|e\+")


def encode(value: object) -> bytes:
    """Encode a value as JSON in a form that all equal values share."""
    text = _ENCODER.encode(value)
    if (".0" in text or "e+" in text) and _WHOLE_FLOAT.search(text):
        text = _ENCODER.encode(json.loads(text, parse_float=_number))
    return text.encode()


def _plain(value: object) -> Any:
    match value:
        case bytes() | bytearray() | memoryview():
            return {"bytes": value.hex()}
        case datetime():
            at = value if value.tzinfo is UTC else value.astimezone(UTC)
            return {"time": at.isoformat(timespec="microseconds")}
        case UUID():
            return {"uuid": f"{value.int:032x}"}
        case Mapping():
            return dict(value)
    raise TypeError(f"a {type(value).__name__} can't be sealed")


def _number(text: str) -> int | float:
    # The database gets the shortest form of a float; a whole number comes back exact.
    return int(Decimal(text)) if (number := float(text)).is_integer() else number


# An object with a loop fails by its depth, not by name.
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False, default=_plain
)
