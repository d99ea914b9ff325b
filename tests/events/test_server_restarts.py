"""The server is killed while writers write."""

import os
import secrets
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from garden.events.database import DatabaseUnavailableError, connection
from garden.events.feed import Entry, FeedReader
from garden.events.idempotency import InProgressError
from garden.events.migrations import migrate
from garden.events.pool import Pool
from garden.events.reader import Query
from garden.events.records import JOURNAL, Statement
from garden.events.saga import Status
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import ensure_home
from garden.home.settings import load_settings
from garden.home.setup import prepare_home
from tests.support.accounts import ADA, NOTES, Account, account_on, asking, fresh_text

RESTARTS = int(os.environ.get("GARDEN_TEST_RESTARTS", "2"))


@dataclass(frozen=True)
class Server:
    """A database on a server that the test may kill; its commits reach the disk as late as possible."""

    embedded: EmbeddedPostgres
    url: str

    def crash(self) -> None:
        self.embedded.stop(immediately=True)
        self.embedded.ensure_running()


@pytest.fixture(scope="module")
def embedded() -> EmbeddedPostgres:
    folder = Path(os.environ["GARDEN_TEST_ROOT"]) / secrets.token_hex(6)
    folder.mkdir()
    home = ensure_home(folder / "home")
    prepare_home(load_settings(home.path).settings)
    server = EmbeddedPostgres(home)
    with connection(server.ensure_running()) as opened:
        opened.execute("alter system set wal_writer_delay = '10s'")
        opened.execute("select pg_reload_conf()")
    return server


@pytest.fixture
def crashing(embedded: EmbeddedPostgres) -> Server:
    address, _, options = embedded.ensure_running().partition("?")
    name = f"test_{secrets.token_hex(6)}"
    with connection(embedded.ensure_running()) as opened:
        opened.execute(f"create database {name}".encode())
    url = f"{address.rpartition('/')[0]}/{name}?{options}"
    with connection(url) as opened:
        migrate(opened)
    return Server(embedded, url)


def test_no_acknowledged_event_is_lost_or_doubled_over_many_crashes(crashing: Server) -> None:
    stop, progress, acknowledged = threading.Event(), threading.Semaphore(0), set[str]()
    with account_on(crashing.url, size_max=6) as account:
        arguments = (account, stop, progress, acknowledged)
        writers = [threading.Thread(target=keep_saying, args=(name, *arguments)) for name in range(3)]
        for writer in writers:
            writer.start()
        for _ in range(RESTARTS):
            for _ in range(5):
                progress.acquire()
            crashing.crash()
        stop.set()
        for writer in writers:
            writer.join()
        recorded = every_rationale(account)
        assert len(recorded) == len(set(recorded))
        assert acknowledged <= set(recorded)
        assert account.faults() == []


def keep_saying(
    writer: int,
    account: Account,
    stop: threading.Event,
    progress: threading.Semaphore,
    acknowledged: set[str],
) -> None:
    """Log statements one by one, each with one key until it is acknowledged."""
    number = 0
    while not stop.is_set():
        number += 1
        said = f"writer {writer} said {number}"
        while not stop.is_set():
            with suppress(DatabaseUnavailableError, InProgressError):
                account.log(said, asked=asking(said, {"said": said}))
                acknowledged.add(said)
                progress.release()
                break


def every_rationale(account: Account) -> list[str]:
    rationales, cursor = list[str](), None
    while True:
        page = account.reader.query("ada", Query(limit=500, cursor=cursor))
        rationales += [event.statement.rationale or "" for event in page.events]
        cursor = page.cursor
        if cursor is None:
            return rationales


def test_the_pool_survives_a_restart_without_an_error(crashing: Server) -> None:
    with account_on(crashing.url) as account:
        account.log("before")
        crashing.crash()
        account.log("between")
        crashing.crash()
        assert every_rationale(account) == ["between", "before"]


def test_an_acknowledged_change_is_committed_after_a_crash(crashing: Server) -> None:
    with account_on(crashing.url) as account:
        for number in range(1, RESTARTS + 1):
            acknowledged = account.edit(fresh_text())
            crashing.crash()
            head = account.reader.head("ada", NOTES)
            assert head is not None
            assert (head.version, head.open_event_id) == (number, None)
            assert (head.head_event_id, head.raw_hash) == (
                acknowledged.event_id,
                acknowledged.intended_raw_hash,
            )
        assert account.faults() == []


def test_a_call_without_the_database_is_unavailable(crashing: Server) -> None:
    with account_on(crashing.url) as account:
        account.edit(fresh_text())
        crashing.embedded.stop()
        with pytest.raises(DatabaseUnavailableError) as refusal:
            account.edit(fresh_text())
        assert refusal.value.message == "The database is not available."
        assert "the log" in refusal.value.hint
        with pytest.raises(DatabaseUnavailableError):
            account.reader.query("ada", Query())
        crashing.embedded.ensure_running()
        assert account.edit(fresh_text()).document_version == 2


def test_a_crash_between_the_steps_leaves_a_pending_event(crashing: Server) -> None:
    with account_on(crashing.url) as account:
        with pytest.raises(DatabaseUnavailableError):
            begin_and_crash(account, crashing)
        with account.store.document(ADA, NOTES, asking("k")) as stream:
            assert stream.head.open_event_id is not None
            stored = account.reader.event("ada", stream.head.open_event_id)
            assert stored is not None
            assert stored.status is Status.PENDING
            stream.finish(stored, {"late": True})
        assert account.faults() == []


def begin_and_crash(account: Account, crashing: Server) -> None:
    with account.store.document(ADA, NOTES, asking("k")) as stream:
        pending = account.begin(stream, "one\n")
        crashing.crash()
        stream.finish(pending, {})


def test_a_lost_answer_is_reported_as_possibly_recorded(crashing: Server) -> None:
    said = Statement(type="observation", op="note", tool="events.log")
    with account_on(crashing.url) as account:
        with account.store.document(ADA, JOURNAL, asking("k")) as journal:
            crashing.crash()
            with pytest.raises(DatabaseUnavailableError, match="whether this was recorded"):
                journal.record(said)
        first = account.store.log(ADA, said, asking("k"))
        assert account.store.log(ADA, said, asking("k")).event_id == first.event_id


@pytest.mark.parametrize(
    "url", ["postgresql:///x?host=/nonexistent/folder", "postgresql://somebody@127.0.0.1:9/x"]
)
def test_the_reason_of_an_outage_goes_to_the_log_and_not_to_callers(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Pool(url) as pool, pytest.raises(DatabaseUnavailableError) as refusal:
        pool.take()
    assert refusal.value.message == "The database is not available."
    told = f"{refusal.value.message} {refusal.value.hint} {refusal.value.details}"
    for place in ("nonexistent", "somebody", "127.0.0.1", "PGSQL", "garden doctor"):
        assert place not in told
    [said] = caplog.messages
    assert said.startswith("the database is not available: ")
    assert "PGSQL" in said or "refused" in said


def test_an_outage_is_logged_once_for_many_calls(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Pool("postgresql://127.0.0.1:9/x") as pool:
        for _ in range(20):
            with pytest.raises(DatabaseUnavailableError):
                pool.take()
    assert len(caplog.messages) == 1


def test_entries_that_a_reader_has_seen_survive_a_crash(crashing: Server) -> None:
    """The last step of a change does not wait for the disk, so the reader has to."""
    with account_on(crashing.url) as account:
        feed, position, seen = FeedReader(account.pool), None, list[Entry]()
        for _ in range(2):
            account.edit(fresh_text())
            batch = feed.since("ada", position)
            assert len(batch.entries) == 1
            seen += batch.entries
            position = batch.position
            crashing.crash()
            assert list(feed.since("ada", None).entries) == seen
            assert not feed.since("ada", position).entries
