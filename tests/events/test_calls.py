"""The account of calls in the database: batches, refusals that share a row, retention, erasures."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from garden.events import calls
from garden.events.calls import CallLog
from garden.events.identifiers import uuid7
from garden.events.pool import Pool
from tests.support.accounts import Account
from tests.support.waiting import until

DAY, MOMENT = timedelta(days=1), timedelta(milliseconds=1)
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def row(status: str = "success", at: datetime | None = None, **other: Any) -> dict[str, Any]:
    at = at or datetime.now(UTC)
    known = {
        "user_id": "ada",
        "actor": "companion",
        "role": "agent",
        "surface": "python",
        "tool": "fs.read",
        "arguments": {},
    }
    outcome = {"status": status, "code": "not_found" if status == "refused" else None, "milliseconds": 2.0}
    asked = {"tool": "fs.read", "arguments": {}}
    rest = {"call_id": uuid7(at), "started_at": at, "tokens_in": 1, "tokens_out": 2, "ids": {}}
    return {**known, **asked, **outcome, **rest, "event_id": None, "summary": None, "calls": 1, **other}


def counted(log: CallLog, user_id: str = "ada") -> int:
    return int(log.stats(user_id, DAY)["calls"])


def test_figures_are_those_of_one_user_actor_tool_and_period(account: Account) -> None:
    log = CallLog(account.pool, 90, lambda: NOW)
    for number in range(100):
        log.put(row(at=NOW - timedelta(minutes=number), milliseconds=number + 1.0))
    log.put(row("refused", NOW, actor="critic", tool="fs.write"))
    log.put(row("failed", NOW + MOMENT, actor="critic", tool="fs.write", code="internal"))
    log.put(row(at=NOW, user_id="ben"))
    assert log.actors("ada", DAY) == []
    all_of_them = log.stats("ada", DAY)
    assert (all_of_them["calls"], all_of_them["success_rate"]) == (102, 100 / 102)
    assert all_of_them["refusals"] == {"not_found": 1}
    assert all_of_them["top_tools"] == [{"tool": "fs.read", "calls": 100}, {"tool": "fs.write", "calls": 2}]
    assert [each["code"] for each in all_of_them["errors"]] == ["internal", "not_found"]
    assert log.actors("ada", DAY) == ["companion", "critic"]
    assert log.stats("ada", DAY, "companion")["latency"] == [50.5, 95.05, 99.01]
    assert log.stats("ada", timedelta(hours=1), tool="fs.read")["calls"] == 61
    assert (counted(log, "ben"), counted(log, "cleo")) == (1, 0)
    assert log.stats("cleo", DAY)["success_rate"] is None


def test_figures_by_tool_and_by_actor_are_those_of_the_newest_calls(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CallLog(account.pool, 90, lambda: NOW)
    for number in range(4):
        log.put(row(at=NOW - timedelta(hours=6 * number, minutes=1), milliseconds=number + 1.0))
    log.put(row("refused", NOW - timedelta(minutes=1), actor="critic", tool="fs.write", calls=3))
    log.put(row("pending", NOW - MOMENT, tool="fs.list"))
    found = log.figures("ada", DAY)
    by_tool = [(each.tool, each.calls, each.unsuccessful, each.p50) for each in found if each.tool]
    assert by_tool == [("fs.read", 4, 0, 2.5), ("fs.write", 3, 3, 2.0)]
    assert {each.actor: each.calls for each in found if each.actor} == {"companion": 4, "critic": 3}
    monkeypatch.setattr(calls, "FIGURED_ROWS_MAX", 2)
    assert sum(each.calls for each in log.figures("ada", DAY) if each.tool) == 4
    assert log.figures("ben", DAY) == []


def test_a_batch_is_written_by_itself_and_by_the_caller_that_fills_it(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, reading = CallLog(account.pool, 90), CallLog(account.pool, 90)
    log.put(row())
    until(lambda: counted(reading) == 1)
    monkeypatch.setattr(calls, "_ROWS_MAX", 3)
    later = CallLog(account.pool, 90)
    for _ in range(3):
        later.put(row())
    assert counted(reading) == 4
    log.close()


def test_refusals_past_sixty_a_minute_share_a_row_for_each_tool_and_code(account: Account) -> None:
    log = CallLog(account.pool, 90)
    for _ in range(60):
        log.put(row("refused"))
    for number in range(40):
        log.put(row("refused", tool=f"fs.{number % 2}"))
        if number == 20:
            log.flush()
    log.put(row("refused", user_id="ben"))
    found = log.stats("ada", DAY)
    assert (found["calls"], found["refusals"]) == (100, {"not_found": 100})
    assert rows_of(account) == 60 + 2


def test_a_row_that_has_ended_is_never_opened_again(account: Account) -> None:
    log, known = CallLog(account.pool, 90), row(event_id=uuid4())
    for status in ("pending", "success", "pending"):
        log.put({**known, "status": status, "milliseconds": None if status == "pending" else 7})
        log.flush()
    assert log.stats("ada", DAY)["latency"] == [7, 7, 7]


def test_calls_that_were_kept_long_enough_are_deleted(account: Account) -> None:
    log = CallLog(account.pool, 90, lambda: NOW)
    for user_id, days in (("ada", 89), ("ada", 91), ("ben", 365), ("cleo", 1)):
        log.put(row(at=NOW - days * DAY, user_id=user_id))
    log.flush()
    assert sum(log.forget_expired()) == 2
    assert rows_of(account) == 1
    assert list(log.forget_expired()) == []


def test_a_database_that_is_away_is_logged_and_fails_no_call(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(calls, "_ROWS_MAX", 4)
    log = CallLog(Pool("postgresql://127.0.0.1:1/none"), 90)
    with caplog.at_level(logging.WARNING, "garden.calls"):
        for number in range(5):
            log.put(row(tool=f"fs.{number}"))
        log.close()
    assert [each.message for each in caplog.records if each.name == "garden.calls"] == [
        "2 calls were not recorded: the database is not available",
        "1 calls were not recorded: the database is not available",
        "2 calls were not recorded: the database is not available",
    ]


def test_calls_wait_for_a_database_that_comes_back(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    log = CallLog(Pool("postgresql://127.0.0.1:1/none"), 90)
    for user_id in ("ada", "ada", "ben"):
        log.put(row(user_id=user_id))
    log.flush()
    monkeypatch.setattr(log, "_pool", account.pool)
    assert (counted(log), counted(log, "ben")) == (2, 1)


def test_a_row_that_the_database_refuses_is_not_tried_again(account: Account) -> None:
    log = CallLog(account.pool, 90)
    log.put(row(calls=0))
    log.flush()
    log.put(row())
    assert counted(log) == 1


def rows_of(account: Account, user_id: str = "ada") -> int:
    with account.pool.connection() as opened, opened.transaction():
        opened.execute("select set_config('garden.user_id', %s, true)", [user_id])
        found = opened.execute("select count(*) as rows from garden.tool_calls").fetchone()
    assert found is not None
    return int(found["rows"])
