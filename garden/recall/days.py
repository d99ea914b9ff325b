"""The time that a question names: a day, a month or a year."""

import re
from datetime import date
from typing import NamedTuple

import numpy as np

from garden.recall.segment import Floats, Ints

# Each line has the names of a month in English, German, French and Spanish.
_MONTHS = """\
january jan januar janvier enero
february feb februar février febrero
march mar märz mars marzo
april apr avril abril
may mai mayo
june jun juni juin junio
july jul juli juillet julio
august aug août agosto
september sept sep septembre septiembre
october oct oktober octobre octubre
november nov novembre noviembre
december dec dezember décembre diciembre"""
_NUMBERS = {name: number for number, names in enumerate(_MONTHS.split("\n"), 1) for name in names.split()}
_MONTH = rf"(?P<month>{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})\b\.?"
_DAY, _YEAR = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|er|\.)?(?!\d)", r"(?P<year>(?:19|20)\d\d)(?!\d)"
# A name alone may be another word; so a number or a preposition must stand beside it.
_TIMES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_YEAR}-(?P<month>\d\d)(?:-{_DAY})?",
        rf"{_YEAR}年(?:(?P<month>\d\d?)月)?(?:(?P<day>\d\d?)日)?",
        rf"\b{_DAY}\s+(?:(?:of|de)\s+)?{_MONTH}(?:,?\s+(?:de\s+)?{_YEAR})?",
        rf"\b{_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?",
        rf"\b{_MONTH},?\s+(?:(?:of|de)\s+)?{_YEAR}",
        rf"\b(?:in|im|en|during|since|last|this|next)\s+(?:{_MONTH}|{_YEAR})",
    )
)
# What happened is often written down some days later.
_LATER_DAYS, _LATER = 14, 0.5


class NamedTime(NamedTuple):
    """A time as it was named: what was left out is None."""

    year: int | None
    month: int | None
    day: int | None


def named_time(question: str) -> NamedTime | None:
    """The first time that a question names."""
    # A pattern that ignores case would take a dotless i for an i, and read a month that is none.
    words = question.lower()
    for pattern in _TIMES:
        if found := pattern.search(words):
            parts = found.groupdict()
            named = (parts.get("year"), parts.get("month"), parts.get("day"))
            return NamedTime(*(_NUMBERS.get(each) or int(each) if each else None for each in named))
    return None


def closeness(time: NamedTime, days: Ints) -> Floats:
    """1 for each day within a time, less for the days after it."""
    dates = np.datetime64(date.min, "D") + days
    months = dates.astype("M8[M]")
    is_within = np.ones(len(days), np.bool_)
    if time.year:
        is_within &= dates.astype("M8[Y]").astype(np.int32) + 1970 == time.year
    if time.month:
        is_within &= months.astype(np.int32) % 12 + 1 == time.month
    if time.day:
        is_within &= (dates - months).astype(np.int32) + 1 == time.day
    named = np.unique(days[is_within])
    if not len(named):
        return np.zeros(len(days), np.float32)
    ages = days - named[np.searchsorted(named, days, "right") - 1]
    return np.where((ages >= 0) & (ages <= _LATER_DAYS), np.where(ages == 0, 1, _LATER), 0).astype(np.float32)
