"""Rate limits: what passes, over processes and jumps of the clock, and what a refusal says."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from garden.events.call_counts import CallCounts, CallWindow
from garden.events.database import connection
from garden.events.pool import Pool
from garden.home.folder import Home
from garden.session import Session
from tests.support.planted import NOTES, ada, code_of, ok, opened, plant

SQL = Callable[[str], list[tuple[Any, ...]]]
# In slots of five minutes: a test ends before the next one begins.
FEW = CallWindow("few", "actor companion", 3600, 13)
MANY = CallWindow("many", "actor companion", 3600 * 2, 1000)
PROCESS = """
import sys
from garden.events.call_counts import CallCounts
from garden.events.pool import Pool
from garden.events.records import Caller
from garden.gateway.access import Access
from garden.gateway.limits import RateLimitedError, RateLimits
from garden.gateway.policies import Rules
from garden.home.settings import ActorPolicy, Gateway
from garden.tools.registry import REGISTRY

rules = Rules(Gateway(limits={"actor_hour": 3600, "burst": 60}), ActorPolicy(), "companion")
passed = 0
with Pool(sys.argv[1]) as pool:
    limits = RateLimits(CallCounts(pool))
    try:
        while True:
            limits.take(Access(Caller("ada", "companion")), rules, REGISTRY["fs.read"])
            passed += 1
    except RateLimitedError:
        print(passed)
"""


@pytest.fixture
def counts(database: str) -> Iterator[CallCounts]:
    with Pool(database) as pool:
        yield CallCounts(pool)


@pytest.fixture
def sql(database: str) -> Iterator[SQL]:
    with connection(database) as asking:

        def run(statement: str) -> list[tuple[Any, ...]]:
            done = asking.execute(statement.encode())
            return done.fetchall() if done.description else []

        yield run


@contextmanager
def limited(home: Home, text: str) -> Iterator[Session]:
    """A session in a home with these lines in its settings."""
    with (home.path / "garden.toml").open("a") as settings:
        settings.write(text)
    with opened(home) as garden:
        yield ada(garden)


def take(counts: CallCounts, *windows: CallWindow, wanted: int = 1, unused: int = 0, slots: Any = ()) -> Any:
    return counts.take("ada", windows, wanted, unused, slots)


def test_no_more_calls_pass_than_the_window_has(counts: CallCounts) -> None:
    assert [take(counts, FEW, MANY)["taken"] for _ in range(15)] == [1] * 13 + [0] * 2
    refused = take(counts, FEW, MANY)
    assert refused["exhausted"] == 1
    # The calls leave the count when the 12 slots after theirs have ended.
    assert 3_600_000 < refused["retry_ms"] <= 3_900_000
    # Another key, another window of the same key, and another user have counts of their own.
    assert take(counts, MANY)["taken"] == take(counts, FEW._replace(key="all"))["taken"] == 1
    assert counts.take("ben", [FEW], 1, 0, ())["taken"] == 1


def test_an_exhausted_limit_debits_no_other(counts: CallCounts, sql: SQL) -> None:
    for _ in range(15):
        take(counts, MANY, FEW)
    assert sql("select sum(c) from garden.call_counts, unnest(counts) as c where seconds = 7200") == [(13,)]


def test_a_lease_gets_what_there_is_and_unused_calls_come_back(counts: CallCounts) -> None:
    first = take(counts, FEW, wanted=10)
    assert first["taken"] == 10
    assert 0 < first["lasts_ms"] <= 300_000
    assert take(counts, FEW, wanted=10)["taken"] == 3
    assert take(counts, FEW)["taken"] == 0
    assert take(counts, FEW, wanted=10, unused=4, slots=first["slots"])["taken"] == 4
    # Those of a slot that has left the count are not taken back from another.
    assert take(counts, FEW, unused=4, slots=[first["slots"][0] - 13])["taken"] == 0


@pytest.mark.parametrize(
    ("clock", "passes"),
    [
        # What the clock was when the calls were counted: it was set back since, by a slot or by centuries.
        ("clock + 1", 0),
        ("clock + 63000000", 0),
        # Or it went on, by less than the window and by more.
        ("clock - 12", 0),
        ("clock - 13", 13),
        ("clock - 63000000", 13),
    ],
)
def test_a_clock_that_jumps_frees_at_most_one_window(
    counts: CallCounts, sql: SQL, clock: str, passes: int
) -> None:
    take(counts, FEW, wanted=13)
    sql(f"update garden.call_counts set clock = {clock}")
    assert sum(each["used"] for each in counts.in_use("ada")) == 13 - passes
    assert take(counts, FEW, wanted=20)["taken"] == passes


def test_counts_age_again_after_the_clock_was_set_back_for_good(counts: CallCounts, sql: SQL) -> None:
    [slot] = take(counts, FEW, wanted=13)["slots"]
    sql("update garden.call_counts set clock = clock + 63000000")
    assert take(counts, FEW, wanted=20, unused=1, slots=[slot])["taken"] == 1
    sql("update garden.call_counts set clock = clock - 13")
    assert take(counts, FEW, wanted=20)["taken"] == 13


def test_a_clock_that_swings_by_a_slot_frees_nothing(counts: CallCounts, sql: SQL) -> None:
    slots = take(counts, FEW, wanted=13)["slots"]
    for _ in range(13):
        # A call is given back and taken again: while the clock is a slot behind, and once it is right again.
        for change in ("+ 1", "- 1"):
            sql(f"update garden.call_counts set clock = clock {change}")
            again = take(counts, FEW, wanted=20, unused=1, slots=slots)
            assert again["taken"] == 1
            slots = again["slots"]
    assert take(counts, FEW, wanted=20)["taken"] == 0


def test_eight_processes_share_one_limit(database: str) -> None:
    words = [sys.executable, "-c", PROCESS, database]
    racing = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    passed = [int(process.communicate(timeout=120)[0]) for process in racing]
    assert sum(passed) == 3660


def test_the_allow_path_visits_the_database_seldom(ready_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    visits: list[Any] = []
    real = CallCounts.take

    def count(*words: Any) -> Any:
        visits.append(words)
        return real(*words)

    monkeypatch.setattr(CallCounts, "take", count)
    with limited(ready_home, "[gateway]\nlimits = {all_minute = 60000}\n") as session:
        for _ in range(1000):
            ok(session.call("tools.help", {"tool": "fs.read"}))
        # Leases of 1, 2, 4 ... 512 calls, and one more for each slot that ended meanwhile.
        assert 10 <= len(visits) < 30


def test_without_limits_and_with_a_limit_of_zero_nothing_is_counted(ready_home: Home, database: str) -> None:
    with limited(ready_home, "[gateway]\nlimits = {actor_minute = 0, 'fs.read' = 0}\n") as session:
        ok(session.call("tools.list"))
        assert code_of(session.call("fs.read", {"path": NOTES})) == "not_found"
    with connection(database) as asking:
        assert asking.execute("select from garden.call_counts").fetchall() == []


def test_a_refusal_names_the_limit_and_when_to_come_back(ready_home: Home) -> None:
    with limited(ready_home, "[gateway]\npreset = 'strict'\n") as session:
        plant(session, NOTES)
        read = {"path": NOTES}
        assert [code_of(session.call("fs.read", read)) for _ in range(9)] == ["ok"] * 8 + ["rate_limited"]
        error = session.call("fs.read", read)["error"]
        assert error["details"]["limit"] == "fs.read"
        assert 55_000 < error["details"]["retryAfterMs"] <= 65_000
