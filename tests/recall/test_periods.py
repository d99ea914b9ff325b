"""Keys of periods, and the periods that have no summary yet."""

from datetime import date

import pytest

from garden.grammar.attributes import is_period_key
from garden.grammar.refusals import InvalidInputError
from garden.recall.periods import PERIODS, SummaryType, check_key, due_periods, key_of

TODAY = date(2026, 11, 19)


@pytest.mark.parametrize(
    ("day", "keys"),
    [
        (TODAY, ["2026-11-19", "2026-W47", "2026-11", "2026-Q4", "2026"]),
        (date(2027, 1, 1), ["2027-01-01", "2026-W53", "2027-01", "2027-Q1", "2027"]),
        (date(2024, 12, 30), ["2024-12-30", "2025-W01", "2024-12", "2024-Q4", "2024"]),
    ],
)
def test_each_day_is_in_one_period_of_each_type_and_weeks_are_those_of_iso(
    day: date, keys: list[str]
) -> None:
    assert [key_of(each, day) for each in PERIODS] == keys
    assert key_of("conversation", day) == keys[0]
    for each, key in zip(PERIODS, keys, strict=True):
        check_key(each, key, TODAY)
        assert is_period_key(each, key)


@pytest.mark.parametrize(
    ("summary_type", "wrong", "right"),
    [
        ("weekly", "2026-11-19", "2026-W47"),
        ("weekly", "2026-w47", "2026-W47"),
        ("weekly", "2026W7", "2026-W07"),
        ("weekly", "2025-W53", "2026-W47"),
        ("monthly", "2026-3", "2026-03"),
        ("monthly", "2026-11-19", "2026-11"),
        ("quarterly", "2026-q2", "2026-Q2"),
        ("quarterly", "2026-05", "2026-Q2"),
        ("quarterly", "2026-Q5", "2026-Q4"),
        ("yearly", "2026-W01", "2026"),
        ("weekly", "2026-W00", "2026-W47"),
        ("monthly", "2026-00", "2026-11"),
        ("daily", "2026/2/3", "2026-02-03"),
        ("daily", "2026-02-30", "2026-11-19"),
        ("conversation", "today", "2026-11-19"),
        ("daily", "", "2026-11-19"),
    ],
)
def test_a_wrong_key_is_refused_with_the_right_one(summary_type: SummaryType, wrong: str, right: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        check_key(summary_type, wrong, TODAY)
    assert refusal.value.details == {"periodKey": right}
    assert right in str(refusal.value.hint)


def test_periods_that_ended_with_entries_and_without_a_summary_are_due() -> None:
    entries = [(TODAY, 9), (date(2026, 11, 18), 2), (date(2026, 10, 31), 1), (date(2026, 10, 30), 3)]
    summaries = {("daily", "2026-10-30"), ("weekly", "2026-W44"), ("weekly", "2026-W01")}
    assert due_periods(entries, summaries, TODAY) == [
        ("monthly", "2026-10", 4),
        ("daily", "2026-10-31", 1),
        ("daily", "2026-11-18", 2),
    ]
    assert due_periods([(date(2027, 3, 1), 1)], set(), TODAY) == []
    assert due_periods([(date(2025, 12, 31), 1)], set(), TODAY)[-1] == ("yearly", "2025", 1)
