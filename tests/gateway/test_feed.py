"""The live feed: watchers are woken across every loss of the connection, and followers read on."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from garden.application import Garden
from garden.events.database import connection
from garden.events.pool import Pool
from garden.gateway.feed import Entry, Feed, Follower
from garden.home.folder import Home
from tests.support.planted import NOTES, ada, ok, opened, plant
from tests.support.waiting import DEADLINE_SECONDS, until

_LISTENERS = b"""
select pid from pg_stat_activity
where datname = current_database() and application_name = 'memory-garden-feed'
"""


class Watcher:
    """Reads a user's feed whenever it is woken, and never otherwise."""

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
def watcher(garden: Garden) -> Iterator[Watcher]:
    watcher = Watcher(garden.feed)
    with garden.feed.watch("ada", watcher.woken.set):
        # The first call means that listening has begun.
        assert watcher.woken.wait(DEADLINE_SECONDS)
        watcher.woken.clear()
        yield watcher


def listeners(url: str) -> set[int]:
    with connection(url) as opened:
        return {pid for (pid,) in opened.execute(_LISTENERS).fetchall()}


def say(garden: Garden, what: str) -> str:
    answer = ok(ada(garden).call("events.log", {"type": "observation", "rationale": what}))
    return str(answer["result"]["eventId"])


def ids(entries: list[Entry]) -> list[str]:
    return [str(entry.event_id) for entry in entries]


def test_a_watcher_is_woken_by_the_events_of_another_process(watcher: Watcher, ready_home: Home) -> None:
    with opened(ready_home) as other:
        plant(ada(other), NOTES)
        said = say(other, "hm")
    watcher.until(lambda: said in ids(watcher.entries))
    assert [entry.path for entry in watcher.entries][-2:] == [NOTES, None]
    assert {entry.what for entry in watcher.entries} == {"committed"}


def test_a_watcher_of_one_user_is_not_woken_by_another(garden: Garden, watcher: Watcher) -> None:
    bens = Watcher(garden.feed, "ben")
    with garden.feed.watch("ben", bens.woken.set):
        say(garden, "ada's")
        watcher.until(lambda: len(watcher.entries) == 1)
        assert not bens.woken.is_set()
        ok(garden.session("ben").call("events.log", {"type": "observation", "rationale": "ben's"}))
        bens.until(lambda: len(bens.entries) == 1)
        assert len(watcher.entries) == 1


def test_the_feed_listens_from_the_first_watcher_until_the_garden_is_closed(
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


def test_no_entry_is_lost_while_the_connection_is_cut_repeatedly(
    garden: Garden, watcher: Watcher, database: str
) -> None:
    said, lost = list[str](), set[int]()
    with connection(database) as breaker:
        for number in range(4):
            said.append(say(garden, f"before {number}"))
            [listener] = until(lambda: listeners(database) - lost)
            breaker.execute("select pg_terminate_backend(%s, 10000)", [listener])
            lost.add(listener)
            said.append(say(garden, f"meanwhile {number}"))
            watcher.until(lambda: ids(watcher.entries) == said)
    assert len(lost) == 4


def test_a_lost_notice_is_made_up_for(database: str) -> None:
    woken = threading.Semaphore(0)
    with Pool(database) as pool:
        feed = Feed(database, pool, wake_all_seconds=0.01)
        try:
            with feed.watch("ada", woken.release):
                for _ in range(5):
                    assert woken.acquire(timeout=DEADLINE_SECONDS)
        finally:
            feed.close()


def test_a_failing_watcher_does_not_affect_others(garden: Garden, watcher: Watcher) -> None:
    def fail() -> None:
        raise RuntimeError("the watcher has gone")

    with garden.feed.watch("ada", fail):
        for number in range(3):
            said = say(garden, f"{number}")
            watcher.until(lambda said=said: said in ids(watcher.entries))  # type: ignore[misc]


def test_a_watcher_that_left_is_not_woken(garden: Garden, watcher: Watcher) -> None:
    gone = threading.Event()
    with garden.feed.watch("ada", gone.set):
        pass
    gone.clear()
    said = say(garden, "hm")
    watcher.until(lambda: said in ids(watcher.entries))
    assert not gone.is_set()


def test_a_feed_may_be_closed_twice_and_then_wakes_no_watcher(database: str) -> None:
    with Pool(database) as pool:
        feed, woken = Feed(database, pool), threading.Event()
        feed.close()
        feed.close()
        with feed.watch("ada", woken.set):
            assert not woken.is_set()
        assert listeners(database) == set()


def test_a_feed_without_a_database_waits_for_it_and_can_be_closed(database: str) -> None:
    with Pool(database) as pool:
        feed = Feed("postgresql:///x?host=/nonexistent", pool)
        with feed.watch("ada", lambda: None):
            feed.close()


def test_a_follower_waits_for_news_and_reads_each_entry_once(garden: Garden) -> None:
    async def follow() -> None:
        follower, entries = Follower(garden.feed, "ada", limit=2), list[Entry]()
        with follower.watch():
            position = await follower.find_position()
            assert (await follower.read()).position == position
            waiting = asyncio.create_task(follower.next())
            said = [await asyncio.to_thread(say, garden, f"{number}") for number in range(3)]
            entries += (await waiting).entries
            while len(entries) < len(said):
                entries += (await follower.next()).entries
            assert ids(entries) == said
            follower.wake()
            assert (await follower.next()).entries == ()

    asyncio.run(follow())


def test_a_follower_is_told_of_news_and_not_of_regular_looks(garden: Garden, database: str) -> None:
    async def follow(feed: Feed) -> None:
        follower = Follower(feed, "ada")
        with follower.watch():
            while not follower.was_told:
                await follower.wait()
            follower.was_told = False
            for _ in range(3):
                await follower.wait()
            assert not follower.was_told
            await asyncio.to_thread(say, garden, "hm")
            async with asyncio.timeout(DEADLINE_SECONDS):
                while not follower.was_told:
                    await follower.wait()

    with Pool(database) as pool, closing(Feed(database, pool, wake_all_seconds=0.01)) as feed:
        asyncio.run(follow(feed))


@pytest.mark.own_database
def test_a_follower_reads_on_after_the_database_was_away(garden: Garden, database: str) -> None:
    name = database.partition("?")[0].rpartition("/")[2]

    async def follow() -> None:
        follower = Follower(garden.feed, "ada")
        with follower.watch(), connection(database.replace(f"/{name}", "/postgres")) as breaker:
            await follower.read()
            breaker.execute(f'alter database "{name}" with allow_connections false'.encode())
            kill = b"select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = %s"
            breaker.execute(kill, [name])
            follower.wake()
            batch = await follower.next()
            assert (batch.entries, batch.complete) == ((), False)
            breaker.execute(f'alter database "{name}" with allow_connections true'.encode())
            said = await asyncio.to_thread(say, garden, "afterwards")
            while said not in ids(list((await follower.next()).entries)):
                pass

    asyncio.run(follow())
