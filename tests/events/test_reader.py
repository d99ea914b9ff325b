from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from garden.events.reader import InvalidQueryError, Query, VersionNotFoundError
from tests.support.accounts import ADA, NOTES, Account, statement

OVERVIEW = "users/ada/overview.md"


@pytest.fixture
def lived(account: Account) -> Account:
    """Seven events: three edits of the notes, one of the overview, two observations, one failure."""
    account.edit("one\n", rationale="Captured a THEME: sleep", section_anchor="inbox v1")
    account.edit("one\ntwo\n", rationale="captured a theme: work")
    account.log("slept badly")
    account.edit(
        "over\n", path=OVERVIEW, type="profile_update", op="replace_section", rationale="moved house"
    )
    account.log("schlief schlecht, schon wieder", path=None)
    with account.store.document(ADA, NOTES) as stream:
        stream.fail(account.begin(stream, "lost\n"), {"code": "no_space"})
    account.edit("one\ntwo\nthree\n", override_rationale="she asked to keep it all")
    return account


def found(account: Account, **wanted: object) -> list[str]:
    page = account.reader.query("ada", Query(**wanted))  # type: ignore[arg-type]
    return [f"{event.stream.rpartition('/')[2] or 'journal'}:{event.sequence}" for event in page.events]


def test_without_a_filter_all_events_come_newest_first(lived: Account) -> None:
    assert found(lived) == [
        "notes.md:4", "notes.md:3", "journal:2", "overview.md:1", "journal:1", "notes.md:2", "notes.md:1",
    ]  # fmt: skip


def test_facets_count_what_a_query_finds(lived: Account) -> None:
    facets = lived.reader.facets("ada", Query(path=NOTES), "UTC")
    assert facets["all"] == [("", 4)]
    assert facets["status"] == [("committed", 3), ("failed", 1)]
    assert facets["section"] == [("inbox v1", 1)]
    assert [count for _, count in facets["day"]] == [4]
    assert lived.reader.facets("ben", Query(), "UTC") == {"all": [("", 0)]}


def test_days_of_facets_begin_at_midnight_in_the_zone(lived: Account) -> None:
    [event] = lived.reader.query("ada", Query(path=OVERVIEW)).events
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        day = event.created_at.astimezone(ZoneInfo(zone)).date().isoformat()
        assert lived.reader.facets("ada", Query(path=OVERVIEW), zone)["day"] == [(day, 1)]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"path": OVERVIEW}, ["overview.md:1"]),
        ({"path": NOTES, "limit": 2}, ["notes.md:4", "notes.md:3"]),
        ({"section": ("Inbox",)}, ["notes.md:1"]),
        ({"section": ("inbox v2",)}, []),
        ({"type": "profile_update"}, ["overview.md:1"]),
        ({"op": "observe"}, ["journal:2", "journal:1"]),
        ({"status": "failed"}, ["notes.md:3"]),
        ({"status": "pending"}, []),
        ({"status": ("failed", "pending")}, ["notes.md:3"]),
        ({"status": "committed", "path": NOTES}, ["notes.md:4", "notes.md:2", "notes.md:1"]),
        ({"actor": "companion", "type": "observation"}, ["journal:2", "journal:1"]),
        ({"actor": "somebody else"}, []),
        ({"tool_call_id": "call-1", "path": OVERVIEW}, ["overview.md:1"]),
        ({"transaction_id": "t"}, []),
        ({"agent_action_id": "a"}, []),
        ({"text": "theme sleep"}, ["notes.md:1"]),
        ({"text": "SCHLECHT"}, ["journal:2"]),
        ({"text": "keep it"}, ["notes.md:4"]),
        ({"text": "100%_\\"}, []),
    ],
)
def test_each_filter_narrows_the_search(lived: Account, wanted: dict[str, Any], expected: list[str]) -> None:
    assert found(lived, **wanted) == expected


def test_a_pending_event_is_found_by_its_status(lived: Account) -> None:
    with lived.store.document(ADA, NOTES) as stream:
        pending = lived.begin(stream, "more\n")
        assert found(lived, status="pending") == ["notes.md:5"]
        stream.mark_written(pending)
        assert found(lived, status="pending") == []
        assert found(lived, status="written") == ["notes.md:5"]


def test_a_time_range_includes_its_start_and_not_its_end(lived: Account) -> None:
    events = lived.reader.query("ada", Query()).events[::-1]
    second, fourth = events[1].created_at, events[3].created_at
    assert found(lived, since=second, until=fourth) == ["journal:1", "notes.md:2"]
    assert found(lived, until=events[0].created_at) == []
    assert found(lived, since=events[-1].created_at + timedelta(microseconds=1)) == []


@pytest.mark.parametrize("narrowed", [{}, {"path": NOTES}, {"actor": "companion"}])
def test_pages_follow_each_other_without_gap_or_repetition_while_events_are_added(
    lived: Account, narrowed: dict[str, str]
) -> None:
    whole, seen, cursor = found(lived, **narrowed), list[str](), None
    while True:
        page = lived.reader.query("ada", Query(limit=2, cursor=cursor, **narrowed))  # type: ignore[arg-type]
        seen += [f"{event.stream.rpartition('/')[2] or 'journal'}:{event.sequence}" for event in page.events]
        lived.log("added meanwhile")
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == whole


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        ({"limit": 0}, "1 to 500 events, not 0"),
        ({"limit": 501}, "not 501"),
        ({"cursor": "garbage"}, "The cursor does not come from a page"),
        ({"status": "done"}, "'done' is not a status"),
    ],
)
def test_a_malformed_query_is_refused_with_a_hint(
    account: Account, wanted: dict[str, object], complaint: str
) -> None:
    with pytest.raises(InvalidQueryError, match=complaint) as refusal:
        found(account, **wanted)
    assert refusal.value.hint


def test_a_missing_version_is_not_found(lived: Account) -> None:
    assert lived.reader.text_at("ada", NOTES, 3) == "one\ntwo\nthree\n"
    for version in (0, 4):
        with pytest.raises(VersionNotFoundError):
            lived.reader.text_at("ada", NOTES, version)
    assert lived.faults() == []


def test_a_long_history_is_read_in_batches(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("garden.events.snapshots._BATCH_ROWS", 3)
    for number in range(8):
        account.edit(f"{number}\n")
    assert account.reader.text_at("ada", NOTES, 8) == "7\n"
    assert account.faults() == []


def test_an_event_comes_back_as_it_was_recorded(account: Account) -> None:
    recorded = account.edit("ü\r\n", edit={"text": "ü\r\n"}, lint={"warnings": ["x"]}, entity="notes")
    assert account.reader.event("ada", recorded.event_id) == recorded
    assert recorded.statement == statement(
        NOTES, edit={"text": "ü\r\n"}, lint={"warnings": ["x"]}, entity="notes"
    )
