"""An open garden whose events are of every kind that the log knows."""

import pytest

from garden.application import Garden
from garden.history.checkpoints import make_checkpoints
from garden.history.log_check import check_log
from tests.support.accounts import ADA, BEN, NOTES, Account
from tests.tools.conftest import ada

__all__ = ["ada"]


@pytest.fixture
def account(garden: Garden) -> Account:
    """The garden's event log, with five events and an annotation of Ada and one event of Ben."""
    account = Account(garden.pools["writers"], garden.keys())
    about = account.edit("one\n", caller=ADA)
    account.log("a thought")
    account.log("about the write", path=NOTES, about=about.event_id)
    with account.store.document(ADA, NOTES) as stream:
        stream.fail(account.begin(stream, "lost\n"), {"code": "no_space"})
    account.edit("two\n")
    account.edit("over\n", path="users/ada/overview.md")
    account.edit("ben\n", path="users/ben/notes.md", caller=BEN)
    return account


def logged(garden: Garden) -> int:
    """Make checkpoints; returns the number of new leaves."""
    return sum(make_checkpoints(garden.services))


def faults(garden: Garden, against: str | None = None) -> list[str]:
    return [fault.message for fault in check_log(garden.services, against)]
