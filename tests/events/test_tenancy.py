import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from garden.events.pool import Pool
from garden.events.reader import EventReader, Query
from garden.events.statements import statements
from tests.support.accounts import BEN, NOTES, Account, account_on

READS = int(os.environ.get("GARDEN_TEST_READS", "4000"))
BENS_NOTES = "users/ben/notes.md"


@pytest.fixture
def two_users(account: Account) -> Account:
    for number in range(3):
        account.edit(f"ada {number}\n")
        account.edit(f"ben {number}\n", path=BENS_NOTES, caller=BEN)
    return account


@pytest.mark.usefixtures("two_users")
def test_many_threads_on_few_connections_never_see_a_foreign_row(database: str) -> None:
    """Reads of two users take turns on three connections."""
    with Pool(database, size_max=3) as pool, ThreadPoolExecutor(8) as threads:
        strangers = sum(threads.map(lambda _: count_strangers(pool, READS // 800), range(800)))
    assert strangers == 0


def count_strangers(pool: Pool, rounds: int) -> int:
    strangers = 0
    with pool.connection() as connection:
        for number in range(rounds):
            user_id = ("ada", "ben")[number % 2]
            with connection.transaction():
                connection.execute(statements("identities")["reader"], {"user_id": user_id}, prepare=True)
                rows = connection.execute(b"select user_id from garden.events", prepare=True).fetchall()
            strangers += sum(row["user_id"] != user_id for row in rows) + (len(rows) != 3)
    return strangers


def test_a_connection_shows_no_rows_before_a_user_is_set(two_users: Account) -> None:
    with two_users.pool.connection() as connection:
        for table in ("events", "documents", "idempotency_records", "event_annotations"):
            assert connection.execute(f"select from garden.{table}".encode()).fetchall() == []


def test_writers_of_two_users_interleave_on_the_same_connections(database: str) -> None:
    with account_on(database, size_max=2) as account:

        def write(number: int) -> None:
            caller = BEN if number % 2 else None
            if caller:
                account.log(f"ben {number}", caller=BEN)
            else:
                account.log(f"ada {number}")

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(write, range(200)))
        for user_id in ("ada", "ben"):
            events = account.reader.query(user_id, Query(limit=500)).events
            assert len(events) == 100
            assert all((event.statement.rationale or "").startswith(user_id) for event in events)
            assert account.faults(user_id) == []


def test_another_users_event_can_not_be_read_by_id(two_users: Account) -> None:
    reader = EventReader(two_users.pool)
    bens = reader.query("ben", Query(path=BENS_NOTES)).events[0]
    assert reader.event("ada", bens.event_id) is None
    assert reader.query("ada", Query(path=BENS_NOTES)).events == ()
    assert reader.head("ada", BENS_NOTES) is None
    assert reader.head("ada", NOTES) is not None
