"""A later version adds a column to a table: this version goes on writing, reading and verifying."""

from itertools import chain

import pytest

from garden.application import Garden
from garden.events import rows
from garden.events.database import connection
from garden.events.parts import ANNOTATION_PARTS, EVENT_PARTS, Parts
from garden.events.passages import PassageRow
from garden.home.folder import Home
from tests.support.gardens import NOTES, ok, out_of_step, plant
from tests.support.gardens import rows as rows_of
from tests.support.planted import ada, opened

# Rows are sent by position, so each type has to have the columns that Python sends, in the same order.
INPUT_TYPES = {
    "event_v1": rows.NEW_EVENT,
    "annotation_v1": rows.ANNOTATION_COLUMNS,
    "event_state": rows.NEW_STATE,
    "filled_event_v1": rows.FILLED_EVENT,
    "filled_annotation_v1": rows.FILLED_ANNOTATION,
    "passage_v1": PassageRow._fields,
}
TABLES = {
    "events": rows.EVENT_COLUMNS,
    "event_annotations": rows.ANNOTATION_COLUMNS,
    "documents": rows.HEAD_COLUMNS,
}


@pytest.mark.parametrize("name", INPUT_TYPES)
def test_an_input_type_has_the_columns_that_are_sent_in_their_order(database: str, name: str) -> None:
    assert tuple(columns(database, name)) == INPUT_TYPES[name]


@pytest.mark.parametrize(
    ("table", "filled", "parts"),
    [
        ("events", rows.FILLED_EVENT, EVENT_PARTS),
        ("event_annotations", rows.FILLED_ANNOTATION, ANNOTATION_PARTS),
    ],
)
def test_an_erasure_may_change_every_part_and_nothing_else(
    database: str, table: str, filled: tuple[str, ...], parts: Parts
) -> None:
    assert set(filled[1:]) == {"salts", *chain(*parts.values())}
    with connection(database) as owner:
        allowed = owner.execute(
            "select column_name::text from information_schema.column_privileges"
            " where privilege_type = 'UPDATE' and grantee = 'garden_maintainer'"
            " and table_schema = 'garden' and table_name = %s",
            [table],
        )
        assert {name for (name,) in allowed} == set(filled[1:])


@pytest.mark.parametrize("name", TABLES)
def test_a_record_has_a_field_for_every_column_of_its_table(database: str, name: str) -> None:
    assert set(columns(database, name)) == set(TABLES[name])


@pytest.mark.own_database
def test_open_and_new_gardens_work_on_with_tables_that_have_another_column(
    garden: Garden, ready_home: Home, database: str
) -> None:
    plant(ada(garden), NOTES)
    use(garden, "before")
    add_a_column_to_every_table(database)
    use(garden, "after")
    with opened(ready_home) as another:
        use(another, "and by another")
        assert out_of_step(another) == []


def use(garden: Garden, words: str) -> None:
    """Write, resend, log, annotate, query and verify."""
    session = ada(garden)
    written = ok(session, "fs.append", path=NOTES, text=words, idempotencyKey=words, toolCallId=words)
    again = ok(session, "fs.append", path=NOTES, text=words, idempotencyKey=words, toolCallId=words)
    assert again["meta"]["eventId"] == written["meta"]["eventId"]
    ok(session, "events.log", type="observation", op="note", rationale=words)
    noted = ok(session, "events.log", type="observation", op="note", filePath=NOTES, toolCallId=words)
    assert noted["meta"]["annotated"]
    newest = rows_of(session, path=NOTES)[0]
    assert (newest["eventId"], len(newest["annotations"])) == (written["meta"]["eventId"], 1)
    assert garden.feed.since("ada", None).entries[-1].what == "annotated"
    assert out_of_step(garden) == []


def add_a_column_to_every_table(database: str) -> None:
    """With a value in the rows that are there, and in those to come."""
    with connection(database) as owner:
        tables = owner.execute("select tablename from pg_tables where schemaname = 'garden'").fetchall()
        for (table,) in tables:
            owner.execute(f"alter table garden.{table} add column later text default 'x'".encode())
    assert len(tables) >= 8


def columns(database: str, relation: str) -> list[str]:
    with connection(database) as asking:
        found = asking.execute(
            "select attname::text from pg_attribute where attrelid = %s::regclass and attnum > 0"
            " and not attisdropped order by attnum",
            [f"garden.{relation}"],
        )
        return [name for (name,) in found]
