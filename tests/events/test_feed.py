"""The feed: each settled event once, in an order that can be resumed at any place, whoever commits when."""

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import pytest

from garden.events.database import Connection, connection
from garden.events.feed import BATCH_ENTRIES_MAX, Entry, FeedReader, InvalidPositionError
from garden.events.identifiers import uuid7
from garden.events.migrations import migrate, shipped_migrations
from garden.events.pool import Pool
from garden.events.reader import Query
from tests.support import permissions
from tests.support.accounts import ADA, BEN, NOTES, Account, account_on, fresh_text
from tests.support.named_sql import named_sql
from tests.support.waiting import until

# Somebody who wants to settle something has to wait until another transaction has committed.
_WAITING = (
    b"select exists (select from pg_locks where locktype = 'advisory' and objsubid = 2 and not granted"
    b" and database = (select oid from pg_database where datname = current_database()))"
)
WRITERS, CHANGES_OF_A_WRITER, SLOW_ONES = 8, 40, 6


@pytest.fixture
def feed(account: Account) -> FeedReader:
    return FeedReader(account.pool)


def told(feed: FeedReader, user_id: str = "ada", position: str | None = None) -> list[Entry]:
    """Read a whole feed, in batches of odd sizes."""
    entries, sizes = list[Entry](), itertools.cycle((1, 2, 30, 7))
    while True:
        batch = feed.since(user_id, position, next(sizes))
        entries += batch.entries
        position = batch.position
        if batch.complete:
            return entries


@contextmanager
def late_settlement(url: str, event_id: UUID) -> Iterator[Connection]:
    """Settle something in a transaction that commits when the block is left."""
    with connection(url) as opened, opened.transaction():
        opened.execute("set local role garden_service")
        opened.execute("set local garden.user_id = 'ada'")
        opened.execute("select garden.tell('ada', %s, 'committed')", [event_id])
        yield opened


def some_id(account: Account) -> UUID:
    return uuid7(account.store._now())


def test_what_was_settled_is_told_in_its_order_with_what_became_of_it(
    account: Account, feed: FeedReader
) -> None:
    first = account.edit("one\n")
    with account.store.document(ADA, NOTES) as stream:
        failed = stream.fail(account.begin(stream, "two\n"), {"code": "internal"})
    said = account.log("slept badly")
    account.log("because of that", path=NOTES)
    assert [(entry.event_id, entry.what, entry.path) for entry in told(feed)] == [
        (first.event_id, "committed", NOTES),
        (failed.event_id, "failed", NOTES),
        (said.event_id, "committed", None),
        (failed.event_id, "annotated", NOTES),
    ]


def test_what_was_only_begun_is_not_told(account: Account, feed: FeedReader) -> None:
    with account.store.document(ADA, NOTES) as stream:
        pending = account.begin(stream, "one\n")
        assert told(feed) == []
        stream.mark_written(pending)
        assert told(feed) == []


def test_nobody_is_told_of_another_users_events(account: Account, feed: FeedReader) -> None:
    account.log("ada's")
    account.log("ben's", caller=BEN)
    [adas], [bens] = told(feed, "ada"), told(feed, "ben")
    assert adas.event_id != bens.event_id
    assert told(feed, "cleo") == []


def test_what_settles_late_comes_before_what_had_to_wait_for_it(
    account: Account, feed: FeedReader, database: str
) -> None:
    before = account.log("before").event_id
    late = some_id(account)
    with ThreadPoolExecutor(1) as threads, connection(database) as watcher:
        with late_settlement(database, late):
            logged = threads.submit(account.log, "after")
            until_somebody_waits(watcher)
            assert [entry.event_id for entry in told(feed)] == [before]
            assert feed.now("ada") == told(feed)[-1].position
            # Another user's writers don't wait.
            account.log("ben's", caller=BEN)
        after = logged.result().event_id
    assert [entry.event_id for entry in told(feed)] == [before, late, after]


def until_somebody_waits(watcher: Connection) -> None:
    until(lambda: watcher.execute(_WAITING).fetchone() == (True,))


def test_among_many_writers_and_late_ones_nothing_is_lost_or_told_twice(database: str) -> None:
    """Followers read all the while; slow transactions settle something and commit once others wait for it."""
    with account_on(database, size_max=WRITERS + 4) as account, connection(database) as watcher:
        feed, done = FeedReader(account.pool), threading.Event()
        slow_ids = [some_id(account) for _ in range(SLOW_ONES)]

        def write(writer: int) -> None:
            path = f"users/ada/parts/part-{writer}/notes.md"
            for number in itertools.count():
                account.edit(fresh_text(), path=path) if number % 3 else account.log(f"{writer} {number}")
                if number >= CHANGES_OF_A_WRITER and slow.done():
                    return

        def settle_late() -> None:
            for event_id in slow_ids:
                with late_settlement(database, event_id):
                    until_somebody_waits(watcher)

        def follow(limit: int) -> list[Entry]:
            entries, position = list[Entry](), None
            while True:
                was_done = done.is_set()
                batch = feed.since("ada", position, limit)
                entries += batch.entries
                position = batch.position
                if was_done and batch.complete:
                    return entries

        with ThreadPoolExecutor(WRITERS + 4) as threads:
            followers = [threads.submit(follow, limit) for limit in (1, 7, 500)]
            slow = threads.submit(settle_late)
            try:
                list(threads.map(write, range(WRITERS)))
                slow.result()
            finally:
                done.set()
            followed = [follower.result() for follower in followers]

        whole = told(feed)
        assert sorted(entry.event_id for entry in whole) == sorted(every_event(account) + slow_ids)
        assert followed == [whole] * 3
        for number in range(0, len(whole), 17):
            assert told(feed, position=whole[number].position) == whole[number + 1 :]


def every_event(account: Account) -> list[UUID]:
    ids, cursor = list[UUID](), None
    while True:
        page = account.reader.query("ada", Query(limit=500, cursor=cursor))
        ids += [event.event_id for event in page.events]
        cursor = page.cursor
        if cursor is None:
            return ids


def test_a_full_batch_says_that_there_is_more(account: Account, feed: FeedReader) -> None:
    for number in range(3):
        account.log(f"{number}")
    assert not feed.since("ada", None, 2).complete
    assert feed.since("ada", None, 3).complete


def test_who_wants_only_what_comes_begins_now(account: Account, feed: FeedReader) -> None:
    beginning = feed.now("ada")
    account.log("before")
    now = feed.now("ada")
    after = account.log("after").event_id
    assert [entry.event_id for entry in told(feed, position=now)] == [after]
    assert len(told(feed, position=beginning)) == 2


@pytest.mark.parametrize(
    "position",
    ["", "7", "7-", "-7-00000000-0000-0000-0000-000000000000", "7-" + "0" * 32, f"{10**18}-{UUID(int=0)}"],
)
def test_what_is_no_position_is_refused(feed: FeedReader, position: str) -> None:
    with pytest.raises(InvalidPositionError) as refusal:
        feed.since("ada", position)
    assert "without one" in refusal.value.hint


def test_a_position_that_this_feed_never_gave_is_refused(account: Account, feed: FeedReader) -> None:
    account.log("ada's")
    account.log("ben's", caller=BEN)
    [adas], [bens] = told(feed, "ada"), told(feed, "ben")
    for position in (bens.position, adas.position.replace("1-", "2-", 1)):
        with pytest.raises(InvalidPositionError, match="not known here"):
            feed.since("ada", position)


@pytest.mark.parametrize("limit", [0, BATCH_ENTRIES_MAX + 1])
def test_a_batch_has_a_bound(feed: FeedReader, limit: int) -> None:
    with pytest.raises(InvalidPositionError, match="A batch has 1 to"):
        feed.since("ada", None, limit)


def test_the_feed_of_an_older_database_begins_with_what_happens_next(empty_database: str) -> None:
    older = [each for each in shipped_migrations() if each.version < 4]
    sql = named_sql(str(Path(permissions.__file__)))["insert events"]
    with connection(empty_database) as opened:
        migrate(opened, older)
        opened.execute(sql.replace("{user}", "ada").replace("{row}", "1").encode())
        migrate(opened)
    with account_on(empty_database) as account:
        said = account.log("after")
        assert [entry.event_id for entry in told(FeedReader(account.pool))] == [said.event_id]


def test_a_feed_is_read_on_connections_that_are_cut_meanwhile(database: str, account: Account) -> None:
    account.log("hm")
    with Pool(database) as pool:
        feed = FeedReader(pool)
        before = told(feed)
        with connection(database) as opened:
            opened.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and pid <> pg_backend_pid()"
            )
        assert told(feed) == before
