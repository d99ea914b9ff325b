"""The rows of recall in the database: from when until when a passage stood, its event, and what is behind."""

from datetime import date, timedelta
from typing import Any

import pytest

from garden.events.database import connection
from garden.events.passages import (
    PassageChanges,
    PassageRow,
    PassageStore,
    StandingPassage,
    changes_json,
)
from garden.events.records import Event
from tests.support.accounts import ADA, NOTES, Account, fresh_text

ELSEWHERE = "users/ada/parts/critic/notes.md"
TODAY, OTHER_DAY = date(2026, 11, 19), date(2026, 1, 2)
ONE, TWO = (
    PassageRow(
        number, NOTES, "inbox v1", name, "Inbox", "en", None, TODAY, ("a", "b"), 80, None, None, name, b"1234"
    )
    for number, name in ((-1, "one"), (2, "two"))
)


_STORED = "select passage, heading, until, embedder from garden.recall_passages order by passage, since"


@pytest.fixture
def passages(account: Account) -> PassageStore:
    return PassageStore(account.pool)


def edit(
    account: Account,
    *come: PassageRow,
    gone: tuple[int, ...] = (),
    path: str = NOTES,
    analysis: int = 1,
    indexes: bool = True,
) -> Event:
    with account.store.document(ADA, path) as stream:
        text, changes = fresh_text(), PassageChanges(path, stream.head.version + 1, analysis, gone, come)
        event = account.begin(stream, text)
        account.texts[path] = text
        return stream.finish(event, {}, passages=changes_json(changes, event.created_at) if indexes else None)


def standing(passages: PassageStore, path: str = NOTES) -> dict[int, StandingPassage]:
    return {each.row.passage: each for each in passages.live_rows("ada", path)}


def ask(database: str, sql: str) -> list[tuple[Any, ...]]:
    with connection(database) as asking:
        found = asking.execute(sql.encode())
        return found.fetchall() if found.description else []


def test_a_passage_stands_from_one_change_to_another_and_may_come_again(
    account: Account, database: str
) -> None:
    came, went, again = edit(account, ONE), edit(account, gone=(-1,)), edit(account, ONE)
    assert ask(database, "select since, until, event_id from garden.recall_passages order by since") == [
        (came.created_at, went.created_at, came.event_id),
        (again.created_at, None, again.event_id),
    ]


def test_a_passage_that_stands_keeps_its_event_its_day_and_under_its_heading_its_vector(
    account: Account, passages: PassageStore, database: str
) -> None:
    event = edit(account, ONE, TWO)
    put_vectors(database)
    moved = ONE._replace(heading="Inbox > Later", previous=2, day=OTHER_DAY)
    renamed = edit(account, moved, TWO._replace(previous=-1, day=OTHER_DAY, is_dated=True))
    rows = standing(passages)
    assert rows[-1] == StandingPassage(moved._replace(day=TODAY), event.event_id, renamed.created_at)
    assert (rows[2].row.day, *rows[2][1:3]) == (OTHER_DAY, event.event_id, event.created_at)
    assert ask(database, _STORED) == [
        (-1, "Inbox", renamed.created_at, "model"),
        (-1, "Inbox > Later", None, None),
        (2, "Inbox", None, "model"),
    ]
    edit(account, gone=(-1,))
    edit(account, ONE._replace(passage=3, anchor="later v1", was=-1), TWO._replace(passage=4, was=2))
    embedders = "select passage, embedder from garden.recall_passages where passage > 2"
    assert ask(database, embedders) == [(3, None), (4, "model")]


@pytest.mark.parametrize("leaves_first", [True, False])
def test_a_passage_from_another_document_brings_its_event_and_its_day(
    account: Account, passages: PassageStore, database: str, leaves_first: bool
) -> None:
    event = edit(account, ONE)
    put_vectors(database)
    if leaves_first:
        edit(account, gone=(-1,))
    edit(account, TWO._replace(path=ELSEWHERE, day=OTHER_DAY, was=-1), path=ELSEWHERE)
    [row] = standing(passages, ELSEWHERE).values()
    assert (row.event_id, row.row.day) == (event.event_id, TODAY)
    assert row.since > event.created_at
    assert ask(database, "select embedder from garden.recall_passages where path like '%critic%'") == [
        (None,)
    ]


def test_a_document_that_an_older_program_wrote_stays_behind_until_its_rows_are_replaced(
    account: Account, passages: PassageStore, database: str
) -> None:
    edit(account, ONE)
    edit(account, indexes=False, path=ELSEWHERE)
    assert [*passages.unindexed("ada", 1)] == [ELSEWHERE]
    edit(account, indexes=False)
    edit(account, TWO)
    assert NOTES in passages.unindexed(None, 1)
    passages.replace_document("ada", NOTES, list(standing(passages).values()), 3, 1)
    ask(database, "update garden.documents set has_file = false")
    assert [*passages.unindexed("ada", 1)] == []


def test_rows_by_older_rules_stay_so_until_they_are_replaced(
    account: Account, passages: PassageStore
) -> None:
    edit(account, ONE, analysis=1)
    edit(account, TWO, analysis=2)
    assert [*passages.unindexed("ada", 1)] == []
    assert [*passages.unindexed("ada", 2)] == [NOTES]
    passages.replace_document("ada", NOTES, (), 2, 2)
    edit(account, ONE, analysis=1)
    assert [*passages.unindexed("ada", 2)] == [NOTES]


def test_rows_replaced_under_their_heading_keep_their_vector_and_the_document_gets_a_generation(
    account: Account, passages: PassageStore, database: str
) -> None:
    event = edit(account, ONE, TWO)
    put_vectors(database)
    [(generation,)] = ask(database, "select generation from garden.recall_documents")
    row = ONE._replace(
        priority=None, summary_type="weekly", period_key="2026-W47", heading='a "b"\n{}\\ ä\u2028'
    )
    kept = StandingPassage(row, event.event_id, event.created_at)
    # Until now this passage has stood since its event.
    went = StandingPassage(TWO, event.event_id, event.created_at, event.created_at + timedelta(days=1))
    again = StandingPassage(TWO, event.event_id, event.created_at + timedelta(days=2))
    passages.replace_document("ada", NOTES, [kept, again, went], 1, 1)
    assert standing(passages) == {-1: kept, 2: again}
    assert [(row[0], row[3]) for row in ask(database, _STORED)] == [(-1, None), (2, "model"), (2, None)]
    assert ask(database, "select generation from garden.recall_documents") != [(generation,)]


def put_vectors(database: str) -> None:
    ask(database, "update garden.recall_passages set vector = 'v', embedder = 'model'")
