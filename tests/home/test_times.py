from datetime import UTC, datetime, timedelta, timezone

import pytest

from garden.home.times import parse_time

NOW = datetime(2026, 11, 18, 8, 25, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-18T08:25:00Z", datetime(2026, 11, 18, 8, 25, tzinfo=UTC)),
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=NOW.tzinfo)),
        ("2026-11-01 07:30", datetime(2026, 11, 1, 7, 30, tzinfo=NOW.tzinfo)),
        ("today", datetime(2026, 11, 18, tzinfo=NOW.tzinfo)),
        (" Yesterday", datetime(2026, 11, 17, tzinfo=NOW.tzinfo)),
        ("3d", NOW - timedelta(days=3)),
        ("90m", NOW - timedelta(minutes=90)),
        ("3 weeks ago", NOW - timedelta(weeks=3)),
        ("an hour ago", NOW - timedelta(hours=1)),
    ],
)
def test_a_time_is_parsed_in_each_form(text: str, time: datetime) -> None:
    assert parse_time(text, NOW) == time


@pytest.mark.parametrize("text", ["", "soon", "3", "-3d", "3 fortnights ago", "2026-13-01", "99999d 1h"])
def test_other_words_are_no_time_and_the_forms_are_named(text: str) -> None:
    with pytest.raises(ValueError, match="3 weeks ago"):
        parse_time(text, NOW)
