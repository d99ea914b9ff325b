"""Sessions of notes entries: named by hand, by day or by week, also where the clock changes."""

from datetime import date, datetime
from typing import Literal
from zoneinfo import ZoneInfo

import pytest

from garden.events.recall_reader import FoundPassage
from garden.home.settings import Sessions
from garden.recall.sessions import session_of

BERLIN = ZoneInfo("Europe/Berlin")


def session(
    written: str,
    day: str | None = None,
    *,
    anchor: str = "inbox v1",
    heading: str = "Inbox",
    kind: str = "notes",
    divide: Literal["daily", "weekly", "none"] = "daily",
    at: str = "04:00",
) -> str | None:
    known: dict[str, object] = dict.fromkeys(FoundPassage._fields)
    created_at = datetime.fromisoformat(written)
    own_day = date.fromisoformat(day) if day else created_at.astimezone(BERLIN).date()
    known |= {"anchor": anchor, "heading": heading, "day": own_day, "created_at": created_at}
    row = FoundPassage(**known)  # type: ignore[arg-type]
    return session_of(row, kind, Sessions(auto_divide=divide, divide_at=at), BERLIN)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-11-19T02:59:59Z", "2026-11-18"),
        ("2026-11-19T03:00:00Z", "2026-11-19"),
        # Summer time begins at 2:00 on 29 March and ends at 3:00 on 25 October.
        ("2026-03-29T01:59:00Z", "2026-03-28"),
        ("2026-03-29T02:00:00Z", "2026-03-29"),
        ("2026-10-25T02:59:00Z", "2026-10-24"),
        ("2026-10-25T03:00:00Z", "2026-10-25"),
    ],
)
def test_a_day_is_divided_by_the_clock_on_the_wall(written: str, expected: str) -> None:
    assert session(written) == expected


@pytest.mark.parametrize("moment", ["2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z"])
def test_a_time_that_a_day_skips_divides_it_all_the_same(moment: str) -> None:
    assert session(moment, at="02:30") == ("2026-03-28" if moment < "2026-03-29T01" else "2026-03-29")


@pytest.mark.parametrize("moment", ["2026-10-25T00:29:00Z", "2026-10-25T01:29:00Z"])
def test_an_hour_that_comes_twice_is_in_one_session(moment: str) -> None:
    assert session(moment, at="02:30") == "2026-10-24"


def test_weeks_begin_on_monday_at_that_time_and_none_divides_nothing() -> None:
    assert session("2026-11-16T02:00:00Z", divide="weekly") == "2026-W46"
    assert session("2026-11-16T04:00:00Z", divide="weekly") == "2026-W47"
    assert session("2026-11-16T04:00:00Z", divide="none") is None


def test_an_entry_about_another_day_belongs_to_the_day_it_speaks_of() -> None:
    assert session("2026-11-19T02:00:00Z", "2026-11-01") == "2026-11-01"


def test_the_heading_above_names_a_session_and_other_documents_have_none() -> None:
    noon = "2026-11-19T12:00:00Z"
    assert session(noon, heading="Inbox > The ferry") == "The ferry"
    assert session(noon, anchor="Talk of May", heading="Talk of May") == "Talk of May"
    assert session(noon, anchor="summaries v1", heading="Summaries") is None
    assert session(noon, anchor="facts v1", heading="Facts", kind="overview") is None
