"""Waiting for one document does not block another."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from garden.events.idempotency import InProgressError
from garden.events.store import lock_number
from garden.events.turns import Turns
from tests.support.accounts import ADA, NOTES, account_on

OVERVIEW = "users/ada/overview.md"


def test_waiting_for_one_document_leaves_connections_for_others(database: str) -> None:
    with account_on(database, size_max=4) as account, ThreadPoolExecutor(6) as threads:
        with account.store.document(ADA, NOTES):
            waiting = [threads.submit(account.edit_again) for _ in range(6)]
            while account.store.turns.members(lock_number("ada", NOTES)) < 7:
                assert not any(each.done() for each in waiting)
            account.edit("of another\n", path=OVERVIEW)
            assert not any(each.done() for each in waiting)
        versions = sorted(each.result().document_version or 0 for each in waiting)
    assert versions == [1, 2, 3, 4, 5, 6]


def test_waiting_too_long_is_refused_and_the_queue_ends() -> None:
    turns = Turns(0.05)
    with turns.turn(1), turns.turn(1), turns.turn(1):
        with pytest.raises(InProgressError), turns.turn(1):
            pass
        assert turns.members(1) == 3
    assert turns.members(1) == 0


def test_streams_do_not_wait_for_each_other() -> None:
    turns, reached = Turns(1), threading.Event()

    def other() -> None:
        with turns.turn(2):
            reached.set()

    with turns.turn(1), ThreadPoolExecutor(1) as threads:
        threads.submit(other).result()
    assert reached.is_set()
