"""The feed holds each settled event once, in an order that a reader can resume anywhere."""

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from uuid import UUID

import pytest

from garden.events.database import Connection, connection
from garden.events.feed import BATCH_ENTRIES_MAX, Entry, FeedReader, InvalidPositionError
from garden.events.pool import Pool
from garden.events.reader import Query
from tests.support.accounts import ADA, BEN, NOTES, Account, account_on, fresh_text
from tests.support.unnumbered import without_numbering
from tests.support.waiting import until

# A writer waits until another transaction has committed.
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


def left_unnumbered(account: Account, path: str = NOTES) -> UUID:
    """Make a change whose writer dies once it is sealed, before it is numbered."""
    text = fresh_text()
    with without_numbering(), account.store.document(ADA, path) as stream:
        event = account.begin(stream, text)
        account.texts[path] = text
        stream.finish(event, {})
    return event.event_id


@contextmanager
def late_numbering(url: str, path: str) -> Iterator[Connection]:
    """Number what is settled in a stream, in a transaction that commits at the end of the block."""
    with connection(url) as opened, opened.transaction():
        opened.execute("set local role garden_service")
        opened.execute("select garden.number_stream('ada', %s)", [path])
        yield opened


def test_the_feed_lists_settled_events_in_order_with_their_outcome(
    account: Account, feed: FeedReader
) -> None:
    first = account.edit("one\n")
    said = account.log("slept badly")
    account.log("because of that", path=NOTES, about=first.event_id)
    with account.store.document(ADA, NOTES) as stream:
        failed = stream.fail(account.begin(stream, "two\n"), {"code": "internal"})
    assert [(entry.event_id, entry.what, entry.path) for entry in told(feed)] == [
        (first.event_id, "committed", NOTES),
        (said.event_id, "committed", None),
        (first.event_id, "annotated", NOTES),
        (failed.event_id, "failed", NOTES),
    ]


def test_a_pending_event_is_not_in_the_feed(account: Account, feed: FeedReader) -> None:
    with account.store.document(ADA, NOTES) as stream:
        pending = account.begin(stream, "one\n")
        assert told(feed) == []
        stream.mark_written(pending)
        assert told(feed) == []


def test_a_feed_holds_no_events_of_another_user(account: Account, feed: FeedReader) -> None:
    account.log("ada's")
    account.log("ben's", caller=BEN)
    [adas], [bens] = told(feed, "ada"), told(feed, "ben")
    assert adas.event_id != bens.event_id
    assert told(feed, "cleo") == []


def test_an_event_that_is_numbered_late_comes_before_the_ones_that_waited_for_it(
    account: Account, feed: FeedReader, database: str
) -> None:
    before = account.log("before").event_id
    late = left_unnumbered(account)
    with ThreadPoolExecutor(1) as threads, connection(database) as watcher:
        with late_numbering(database, NOTES):
            logged = threads.submit(account.log, "after")
            until_somebody_waits(watcher)
            assert [entry.event_id for entry in told(feed)] == [before]
            assert feed.now("ada") == told(feed)[-1].position
            # Writers of another user do not wait.
            account.log("ben's", caller=BEN)
        after = logged.result().event_id
    assert [entry.event_id for entry in told(feed)] == [before, late, after]


def until_somebody_waits(watcher: Connection) -> None:
    until(lambda: watcher.execute(_WAITING).fetchone() == (True,))


def test_many_writers_lose_and_repeat_no_entry(database: str) -> None:
    """Followers read while slow transactions number events and commit once others wait for them."""
    with account_on(database, size_max=WRITERS + 4) as account, connection(database) as watcher:
        feed, done = FeedReader(account.pool), threading.Event()
        slow_paths = [f"users/ada/parts/slow-{number}/notes.md" for number in range(SLOW_ONES)]
        for path in slow_paths:
            left_unnumbered(account, path)

        def write(writer: int) -> None:
            path = f"users/ada/parts/part-{writer}/notes.md"
            for number in itertools.count():
                account.edit(fresh_text(), path=path) if number % 3 else account.log(f"{writer} {number}")
                if number >= CHANGES_OF_A_WRITER and slow.done():
                    return

        def number_late() -> None:
            for path in slow_paths:
                with late_numbering(database, path):
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
            slow = threads.submit(number_late)
            try:
                list(threads.map(write, range(WRITERS)))
                slow.result()
            finally:
                done.set()
            followed = [follower.result() for follower in followers]

        whole = told(feed)
        assert sorted(entry.event_id for entry in whole) == sorted(every_event(account))
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


def test_a_full_batch_is_marked_incomplete(account: Account, feed: FeedReader) -> None:
    for number in range(3):
        account.log(f"{number}")
    assert not feed.since("ada", None, 2).complete
    assert feed.since("ada", None, 3).complete


def test_a_reader_can_start_after_the_newest_entry(account: Account, feed: FeedReader) -> None:
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
def test_a_malformed_position_is_refused(feed: FeedReader, position: str) -> None:
    with pytest.raises(InvalidPositionError) as refusal:
        feed.since("ada", position)
    assert "without one" in refusal.value.hint


def test_a_position_of_another_feed_is_refused(account: Account, feed: FeedReader) -> None:
    account.log("ada's")
    account.log("ben's", caller=BEN)
    [adas], [bens] = told(feed, "ada"), told(feed, "ben")
    for position in (bens.position, adas.position.replace("1-", "2-", 1)):
        with pytest.raises(InvalidPositionError, match="not known here"):
            feed.since("ada", position)


@pytest.mark.parametrize("limit", [0, BATCH_ENTRIES_MAX + 1])
def test_a_batch_size_is_bounded(feed: FeedReader, limit: int) -> None:
    with pytest.raises(InvalidPositionError, match="A batch has 1 to"):
        feed.since("ada", None, limit)


def test_what_a_crash_left_unnumbered_is_numbered_with_the_next_event_of_its_stream(
    account: Account, feed: FeedReader
) -> None:
    unnumbered = [left_unnumbered(account), left_unnumbered(account)]
    elsewhere = account.log("elsewhere").event_id
    assert [entry.event_id for entry in told(feed)] == [elsewhere]
    after = account.edit_again().event_id
    assert [entry.event_id for entry in told(feed)] == [elsewhere, *unnumbered, after]


def test_what_a_crash_left_unnumbered_is_numbered_by_the_service_where_nothing_is_open(
    account: Account, feed: FeedReader
) -> None:
    other = "users/ada/overview.md"
    unnumbered = left_unnumbered(account)
    left_unnumbered(account, other)
    with account.store.document(ADA, other) as stream:
        account.begin(stream, "one\n")
    assert account.store.number_rest("ada") == 1
    assert [entry.event_id for entry in told(feed)] == [unnumbered]
    assert account.store.number_rest("ada") == 0


def test_a_feed_is_read_after_its_connections_were_cut(database: str, account: Account) -> None:
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
