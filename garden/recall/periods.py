"""Periods that summaries are about, and the keys that name them; weeks are those of ISO 8601."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import date
from typing import Literal, NamedTuple

from garden.grammar.refusals import InvalidInputError
from garden.home.local_day import today_in
from garden.writing.services import Services

SummaryType = Literal["conversation", "daily", "weekly", "monthly", "quarterly", "yearly"]
PERIODS: tuple[SummaryType, ...] = ("daily", "weekly", "monthly", "quarterly", "yearly")
_PERIOD = re.compile(
    r"([0-9]{4})(?:[ ./-]?(?:W([0-9]{1,2})|Q([1-4])|([0-9]{1,2})(?:[ ./-]([0-9]{1,2}))?))?", re.IGNORECASE
)


class DuePeriod(NamedTuple):
    """A period that has ended, with the number of its entries, and without a summary."""

    summary_type: SummaryType
    period_key: str
    entries: int


def key_of(summary_type: str, day: date) -> str:
    """The key of the period of this type that a day is in."""
    year, week, _ = day.isocalendar()
    other = {
        "weekly": f"{year:04}-W{week:02}",
        "monthly": day.isoformat()[:7],
        "quarterly": f"{day.year:04}-Q{(day.month + 2) // 3}",
        "yearly": day.isoformat()[:4],
    }
    return other.get(summary_type, day.isoformat())


def check_key(summary_type: SummaryType, key: str, today: date) -> None:
    """Refuse a key that is not in its one form, and name the right one."""
    day = _day_in(key)
    right = key_of(summary_type, day or today)
    if key != right or day is None:
        raise InvalidInputError(
            f"{key!r} is not the key of a {summary_type} summary."
            if key
            else f"A {summary_type} summary needs the key of its period.",
            hint=f"The one for {day.isoformat() if day else 'today'} is {right}.",
            details={"periodKey": right},
        )


def due_summaries(services: Services, user_id: str) -> list[DuePeriod]:
    """The periods of a user that have ended, have entries in the notes, and have no summary yet."""
    today = date.fromisoformat(today_in(services.timezone))
    return due_periods(*services.memories.entries(user_id), today)


def due_periods(
    entries: Iterable[tuple[date, int]], summaries: Collection[tuple[str, str]], today: date
) -> list[DuePeriod]:
    """The periods with entries but without a summary; one that still runs is not due.

    `entries` counts the entries of each day; `summaries` are types and keys.
    """
    found: Counter[tuple[SummaryType, str]] = Counter()
    for day, count in sorted(entries):
        for each in PERIODS:
            key = key_of(each, day)
            if day < today and key != key_of(each, today) and (each, key) not in summaries:
                found[each, key] += count
    return [DuePeriod(*period, count) for period, count in found.items()]


def _day_in(key: str) -> date | None:
    """The first day of a period, in any of the forms that people write; None if there is no such period.

    For a week its Thursday, which is in the month and the year that the week belongs to.
    """
    if found := _PERIOD.fullmatch(key.strip()):
        year, week, quarter, month, day = found.groups()
        with suppress(ValueError):
            if week:
                return date.fromisocalendar(int(year), int(week), 4)
            return date(int(year), int(month or int(quarter or 1) * 3 - 2), int(day or 1))
    return None
