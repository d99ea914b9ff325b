"""The counts of recall's use, and the record of what was given."""

import logging
import time
from datetime import UTC, datetime

import pytest

from garden.events.pool import Pool
from garden.events.recall_usage import RecallUsage
from tests.support.accounts import BEN, Account, fresh_text
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def documents(account: Account) -> None:
    account.edit(fresh_text())
    account.edit(fresh_text(), path="users/ben/notes.md", caller=BEN)


def rows(usage: RecallUsage, user_id: str = "ada") -> list[tuple[object, ...]]:
    return [(row["tool"], row["calls"], row["empty"], row["given"]) for row in usage.by_day(user_id)]


def test_calls_of_two_processes_add_up_by_user_and_tool(account: Account) -> None:
    here, there = RecallUsage(account.pool), RecallUsage(account.pool)
    for usage in (here, there):
        usage.count("ada", "memory.recall", time.perf_counter() - 0.25, is_empty=usage is there)
    here.count("ada", "memory.context", time.perf_counter(), is_empty=False)
    here.count("ben", "memory.recall", time.perf_counter(), is_empty=True)
    assert rows(here) == []
    for usage in (here, there):
        usage.close()
    assert rows(here) == [("memory.context", 1, 0, 0), ("memory.recall", 2, 1, 0)]
    assert rows(here, "ben") == [("memory.recall", 1, 1, 0)]
    assert here.totals == {("memory.recall", "found"): 1, ("memory.recall", "empty"): 1,
                           ("memory.context", "found"): 1}  # fmt: skip
    recalled = here.by_day("ada")[1]
    assert recalled["day"] == datetime.now(UTC).date()
    assert 250 <= recalled["mean_ms"] < 1000
    here.flush()
    assert len(rows(here)) == 2


def test_a_process_that_goes_on_writes_its_counts_by_itself(account: Account) -> None:
    usage = RecallUsage(account.pool)
    for calls in (1, 2):
        usage.count("ada", "memory.recall", time.perf_counter(), is_empty=False)
        until(lambda: rows(usage) == [("memory.recall", calls, 0, 0)])  # noqa: B023 - called at once


def test_given_passages_are_recorded_by_their_ids_for_their_user_alone(account: Account) -> None:
    usage = RecallUsage(account.pool)
    usage.count("ada", "memory.context", time.perf_counter(), is_empty=False)
    usage.count("ben", "memory.context", time.perf_counter(), is_empty=False)
    usage.close()
    usage.note_given("ada", "companion", ["users/ada/notes.md#inbox v1/k3j2h4g5f6"])
    assert rows(usage) == [("memory.context", 1, 0, 1)]
    assert rows(usage, "ben") == [("memory.context", 1, 0, 0)]


def test_a_database_that_is_away_is_logged_and_fails_no_call(caplog: pytest.LogCaptureFixture) -> None:
    usage = RecallUsage(Pool("postgresql://127.0.0.1:1/none"))
    with caplog.at_level(logging.WARNING, "garden.recall"):
        usage.note_given("ada", "companion", ["a"])
        usage.count("ada", "memory.recall", time.perf_counter(), is_empty=False)
        usage.close()
    assert [each.message for each in caplog.records if each.name == "garden.recall"] == [
        "usage was not recorded: The database is not available."
    ] * 2
