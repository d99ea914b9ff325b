"""The byte string of a value, for seals and fingerprints.

The database returns equal values in other forms (a number without its exponent, a time in another zone, an
object with reordered keys). Equal values give the same bytes. The names in an object are strings.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from json.encoder import c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]
from typing import Any
from uuid import UUID

# A whole number that Python writes with a fraction or an exponent; a text may look alike.
_WHOLE_FLOAT = re.compile(r"\.0(?=[],}]|$)|e\+")


def encode(value: object) -> bytes:
    """Encode a value as JSON in a form that all equal values share."""
    text = "".join(_pieces(value, 0))
    if (".0" in text or "e+" in text) and _WHOLE_FLOAT.search(text):
        text = "".join(_pieces(json.loads(text, parse_float=_number), 0))
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


# What `json.dumps` makes anew on each call. An object with a loop fails by its depth, not by name.
_pieces = c_make_encoder(
    None, _plain, encode_basestring_ascii, None, ":", ",", True, False, False
)  # sorted, refusing other keys than strings and numbers, and NaN
