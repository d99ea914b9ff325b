"""JSON of which programs can't disagree: no name twice in an object, finite numbers only."""

import json
import math
from typing import Any


def parse_json(text: str) -> Any:
    """Parse JSON strictly; a ValueError says what is wrong."""
    try:
        return DECODER.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("an object has the same name twice")
    return value


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def _parse_finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_parse_finite, object_pairs_hook=_make_object
)
