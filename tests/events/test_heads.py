"""A head that does not fit its events is rebuilt from them, unless events are missing."""

import pytest

from garden.events.heads import HeadBuilder, NotRebuiltError
from garden.events.reader import Query
from garden.events.records import JOURNAL, Caller
from garden.events.verifier import FEED, ChainFault
from tests.events.test_verifier import tamper
from tests.support.accounts import ADA, NOTES, Account

OF_NOTES = f"where path = '{NOTES}'"


@pytest.fixture
def edited(account: Account) -> Account:
    for number in range(3):
        account.edit(f"# Notes\n\n{number}\n")
    account.log("something said")
    return account


@pytest.fixture
def heads(edited: Account) -> HeadBuilder:
    return HeadBuilder(edited.store, edited.reader, edited.verifier)


def only(heads: HeadBuilder) -> ChainFault:
    """The fault of the stream; the feed knows more of a stream whose events are missing."""
    [fault] = (fault for fault in heads.faults("ada") if fault.stream != FEED)
    return fault


@pytest.mark.parametrize(
    "harm",
    [
        f"delete from garden.documents {OF_NOTES}",
        f"update garden.documents set version = 2 {OF_NOTES}",
        f"update garden.documents set raw_hash = 'sha256:' || repeat('0', 64) {OF_NOTES}",
        f"update garden.documents set seal = sha256('forged') {OF_NOTES}",
        f"update garden.documents set open_event_id = head_event_id {OF_NOTES}",
        f"update garden.documents set tail_sequence = 1 {OF_NOTES}",
    ],
)
def test_a_lost_or_changed_head_is_rebuilt(
    edited: Account, heads: HeadBuilder, database: str, harm: str
) -> None:
    before = edited.reader.head("ada", NOTES)
    tamper(database, harm)
    heads.rebuild(ADA, only(heads))
    assert edited.reader.head("ada", NOTES) == before
    assert edited.faults() == []
    edited.edit("# Notes\n\nit goes on\n")
    assert edited.faults() == []


def test_an_open_event_stays_open(edited: Account, heads: HeadBuilder, database: str) -> None:
    with edited.store.document(ADA, NOTES) as stream:
        pending = edited.begin(stream, "more\n")
    tamper(database, f"delete from garden.documents {OF_NOTES}")
    heads.rebuild(ADA, only(heads))
    with edited.store.document(ADA, NOTES) as stream:
        assert stream.head.open_event_id == pending.event_id
        stream.finish(pending, {})
    assert edited.faults() == []


def test_the_journals_head_is_rebuilt_too(edited: Account, heads: HeadBuilder, database: str) -> None:
    tamper(database, "update garden.documents set seal = sha256('forged') where path = ''")
    fault = only(heads)
    assert fault.stream == JOURNAL
    heads.rebuild(ADA, fault)
    edited.log("and more is said")
    assert edited.faults() == []
    [said] = edited.reader.query("ada", Query(op="rebuild_head")).events
    assert "the journal" in (said.statement.rationale or "")


def test_a_rebuilt_head_is_recorded_in_the_journal(
    edited: Account, heads: HeadBuilder, database: str
) -> None:
    tamper(database, f"delete from garden.documents {OF_NOTES}")
    heads.rebuild(Caller("ada", "reconciler"), only(heads))
    [said] = edited.reader.query("ada", Query(op="rebuild_head")).events
    assert said.statement.path == NOTES
    assert "lost its head" in (said.statement.rationale or "")


def test_a_head_ahead_of_its_events_is_not_rebuilt(
    edited: Account, heads: HeadBuilder, database: str
) -> None:
    tamper(database, f"delete from garden.events where stream = '{NOTES}' and sequence = 3")
    fault, before = only(heads), edited.reader.head("ada", NOTES)
    with pytest.raises(NotRebuiltError, match=r"its head knows of 3, and there are 2\.$"):
        heads.rebuild(ADA, fault)
    assert edited.reader.head("ada", NOTES) == before


def test_no_head_is_rebuilt_from_changed_events(heads: HeadBuilder, database: str) -> None:
    tamper(database, f"delete from garden.documents {OF_NOTES}")
    fault = only(heads)
    tamper(
        database, f"update garden.events set rationale = 'forged' where stream = '{NOTES}' and sequence = 2"
    )
    assert not only(heads).of_head
    with pytest.raises(NotRebuiltError, match="are not as they were written"):
        heads.rebuild(ADA, fault)
