"""The live feed: who watches is woken, whatever becomes of the connection that notices come over."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from garden.access.feed import Entry, Feed
from garden.application import Garden
from garden.events.database import connection
from garden.events.pool import Pool
from garden.home.folder import Home
from tests.support.planted import NOTES, ada, ok, opened, plant
from tests.support.waiting import DEADLINE_SECONDS, until

_LISTENERS = b"""
select pid from pg_stat_activity
where datname = current_database() and application_name = 'memory-garden-feed'
"""


class Follower:
    """Reads a user's feed whenever it is woken, and waits for nothing else."""

    def __init__(self, feed: Feed, user_id: str = "ada") -> None:
        self.entries: list[Entry] = []
        self.woken = threading.Event()
        self._feed = feed
        self._user_id = user_id
        self._position: str | None = feed.now(user_id)

    def until(self, wanted: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not wanted():
            assert self.woken.wait(deadline - time.monotonic()), "not woken"
            self.woken.clear()
            self.read()

    def read(self) -> None:
        complete = False
        while not complete:
            batch = self._feed.since(self._user_id, self._position, 3)
            self.entries += batch.entries
            self._position, complete = batch.position, batch.complete


@pytest.fixture
def follower(garden: Garden) -> Iterator[Follower]:
    follower = Follower(garden.feed)
    with garden.feed.watch("ada", follower.woken.set):
        # The first call says that listening has begun.
        assert follower.woken.wait(DEADLINE_SECONDS)
        follower.woken.clear()
        yield follower


def listeners(url: str) -> set[int]:
    with connection(url) as opened:
        return {pid for (pid,) in opened.execute(_LISTENERS).fetchall()}


def say(garden: Garden, what: str) -> str:
    answer = ok(ada(garden).call("events.log", {"type": "observation", "rationale": what}))
    return str(answer["result"]["eventId"])


def ids(entries: list[Entry]) -> list[str]:
    return [str(entry.event_id) for entry in entries]


def test_a_watcher_is_woken_by_what_another_process_settles(follower: Follower, ready_home: Home) -> None:
    with opened(ready_home) as other:
        plant(ada(other), NOTES)
        said = say(other, "hm")
    follower.until(lambda: said in ids(follower.entries))
    assert [entry.path for entry in follower.entries][-2:] == [NOTES, None]
    assert {entry.what for entry in follower.entries} == {"committed"}


def test_a_watcher_of_one_user_is_not_woken_by_another(garden: Garden, follower: Follower) -> None:
    bens = Follower(garden.feed, "ben")
    with garden.feed.watch("ben", bens.woken.set):
        say(garden, "ada's")
        follower.until(lambda: len(follower.entries) == 1)
        assert not bens.woken.is_set()
        ok(garden.session("ben").call("events.log", {"type": "observation", "rationale": "ben's"}))
        bens.until(lambda: len(bens.entries) == 1)
        assert len(follower.entries) == 1


def test_nobody_listens_before_somebody_watches_or_after_the_garden_is_closed(
    ready_home: Home, database: str
) -> None:
    woken = threading.Event()
    with opened(ready_home) as garden:
        garden.feed.now("ada")
        assert listeners(database) == set()
        with garden.feed.watch("ada", woken.set), garden.feed.watch("ben", woken.set):
            assert woken.wait(DEADLINE_SECONDS)
            assert len(listeners(database)) == 1
    assert "garden-feed" not in [thread.name for thread in threading.enumerate()]
    until(lambda: not listeners(database))


def test_nothing_is_lost_while_the_connection_is_cut_again_and_again(
    garden: Garden, follower: Follower, database: str
) -> None:
    said, lost = list[str](), set[int]()
    with connection(database) as watcher:
        for number in range(4):
            said.append(say(garden, f"before {number}"))
            [listener] = until(lambda: listeners(database) - lost)
            watcher.execute("select pg_terminate_backend(%s, 10000)", [listener])
            lost.add(listener)
            said.append(say(garden, f"meanwhile {number}"))
            follower.until(lambda: ids(follower.entries) == said)
    assert len(lost) == 4


def test_a_notice_that_never_came_is_made_up_for(database: str) -> None:
    woken = threading.Semaphore(0)
    with Pool(database) as pool:
        feed = Feed(database, pool, everybody_seconds=0.01)
        try:
            with feed.watch("ada", woken.release):
                for _ in range(5):
                    assert woken.acquire(timeout=DEADLINE_SECONDS)
        finally:
            feed.close()


def test_a_watcher_that_fails_takes_nothing_from_the_others(garden: Garden, follower: Follower) -> None:
    def fail() -> None:
        raise RuntimeError("the watcher has gone")

    with garden.feed.watch("ada", fail):
        for number in range(3):
            said = say(garden, f"{number}")
            follower.until(lambda said=said: said in ids(follower.entries))  # type: ignore[misc]


def test_who_has_left_is_not_woken_any_more(garden: Garden, follower: Follower) -> None:
    gone = threading.Event()
    with garden.feed.watch("ada", gone.set):
        pass
    gone.clear()
    said = say(garden, "hm")
    follower.until(lambda: said in ids(follower.entries))
    assert not gone.is_set()


def test_a_feed_may_be_closed_twice_and_wakes_nobody_afterwards(database: str) -> None:
    with Pool(database) as pool:
        feed, woken = Feed(database, pool), threading.Event()
        feed.close()
        feed.close()
        with feed.watch("ada", woken.set):
            assert not woken.is_set()
        assert listeners(database) == set()


def test_a_feed_that_can_not_reach_the_database_waits_for_it_and_can_be_closed(database: str) -> None:
    with Pool(database) as pool:
        feed = Feed("postgresql:///x?host=/nonexistent", pool)
        with feed.watch("ada", lambda: None):
            feed.close()
