"""The event log on a cluster: written, resent, annotated, read, followed and verified as on one host."""

import os
from collections.abc import Iterator

import pytest

from garden.events.database import connection
from garden.events.distribution import distribute
from garden.events.feed import FeedReader
from garden.events.migrations import migrate
from garden.events.reader import Query
from tests.citus.conftest import CITUS
from tests.support.accounts import ADA, BEN, NOTES, Account, account_on, asking


@pytest.fixture(scope="module")
def cluster() -> Iterator[Account]:
    url = os.environ[CITUS]
    with connection(url) as opened:
        migrate(opened)
        distribute(opened)
        assert distribute(opened) == []
    with account_on(url) as account:
        yield account


def test_changes_are_recorded_resent_and_verified(cluster: Account) -> None:
    for number in range(3):
        cluster.edit(f"one\n{number}\n", asked=asking(f"k{number}"))
    with cluster.store.document(ADA, NOTES, asking("k2")) as stream:
        assert stream.earlier is not None
        assert stream.earlier.response is not None
    with cluster.store.document(ADA, NOTES) as stream:
        stream.fail(cluster.begin(stream, "lost\n"), {"code": "no_space"})
    cluster.log("about the write", path=NOTES)
    assert cluster.reader.text_at("ada", NOTES, 3) == "one\n2\n"
    assert cluster.faults() == []


def test_one_user_sees_nothing_of_another(cluster: Account) -> None:
    cluster.edit("ben\n", path="users/ben/notes.md", caller=BEN)
    assert {event.user_id for event in cluster.reader.query("ben", Query()).events} == {"ben"}


def test_the_feed_has_every_event_once(cluster: Account) -> None:
    cluster.edit("fed\n", path="users/ben/notes.md", caller=BEN)
    entries = FeedReader(cluster.pool).since("ben", None).entries
    assert [entry.event_id for entry in entries] == [
        event.event_id for event in reversed(cluster.reader.query("ben", Query()).events)
    ]


def test_the_maintainer_sweeps_all_users(cluster: Account) -> None:
    assert {"ada", "ben"} <= set(cluster.maintenance.users())
    cluster.maintenance.forget_expired_requests(limit=10)
