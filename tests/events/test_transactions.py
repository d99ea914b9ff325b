"""Changes of several streams begin in one commit."""

from contextlib import ExitStack
from typing import Any

import pytest

from garden.events.idempotency import RequestIdentity
from garden.events.pool import NotRecordableError
from garden.events.transactions import Beginning, begin_together
from tests.events.test_stream import round_trips
from tests.support.accounts import ADA, Account, account_on, asking, fresh_text, statement

PATHS = ("users/ada/notes.md", "users/ada/overview.md", "users/ada/parts/critic/notes.md")
ASKED = asking("all of them")


def begin(account: Account, locks: ExitStack, asked: RequestIdentity = ASKED, **last: Any) -> list[Beginning]:
    """A change of each document; `last` is what the last one says."""
    held = locks.enter_context(account.store.document(ADA, PATHS[0], asked))
    others = [locks.enter_context(account.store.lock_second(held, path, asked)) for path in PATHS[1:]]
    return [
        Beginning(
            stream,
            statement(stream.path, **(last if stream.path == PATHS[-1] else {})),
            account.change(stream, fresh_text()),
            stream.next_name(),
        )
        for stream in (held, *others)
    ]


def open_events(account: Account) -> int:
    heads = [account.reader.head("ada", path) for path in PATHS]
    return sum(head is not None and head.open_event_id is not None for head in heads)


def test_one_round_trip_begins_them_all(database: str) -> None:
    """Each lock is taken and given back in one more."""

    def begin_and_fail(key: str) -> None:
        with ExitStack() as locks:
            streams = begin(account, locks, asking(key))
            events = begin_together(streams)
            for each, event in zip(streams, events, strict=True):
                each.stream.fail(event, {"code": "conflict"})

    with account_on(database, size_max=1) as account:
        for number in range(3):
            begin_and_fail(f"warm {number}")
        assert round_trips(account, lambda: begin_and_fail("counted")) == (3 + 1 + 3, 0)


def test_the_first_event_has_the_request(database: str) -> None:
    with account_on(database, size_max=1) as account:
        with ExitStack() as locks:
            streams = begin(account, locks)
            events = begin_together(streams)
            assert [each.stream.head.open_event_id for each in streams] == [each.event_id for each in events]
        assert open_events(account) == 3
        with account.store.document(ADA, PATHS[0], ASKED) as stream:
            assert stream.earlier is not None
            assert (stream.earlier.event_id, stream.earlier.response) == (events[0].event_id, None)
            assert {each.idempotency_key for each in events} == {ASKED.key}


def test_none_begins_if_one_is_refused(account: Account) -> None:
    with ExitStack() as locks, pytest.raises(NotRecordableError):
        begin_together(begin(account, locks, op="No Op"))
    assert open_events(account) == 0
    with account.store.document(ADA, PATHS[0], ASKED) as stream:
        assert stream.earlier is None
