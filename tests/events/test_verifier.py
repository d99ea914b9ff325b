import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from garden.events.database import Connection, connection
from garden.events.encoding import encode
from garden.events.keyring import Keyring
from garden.events.payloads import EditPayload
from garden.events.tokens import Token, TokenStore
from garden.grammar.canonical import canonical
from garden.grammar.parser import parse
from tests.support.accounts import ADA, BEN, NOTES, Account, asking, statement

OVERVIEW = "users/ada/overview.md"
NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
SAID: dict[str, Any] = {
    "entity": "notes",
    "section_anchor": "inbox v1",
    "rationale": "captured theme",
    "override_rationale": "she asked for it",
    "evidence_refs": ("ev:s12-m40",),
    "edit": {"text": "x", "n": 1.5, "nested": {"b": [1, None, True], "a": "ü"}},
    "lint": {"warnings": []},
}
# One example is one recorded edit; `make soak` asks for more.
EXAMPLES = int(os.environ.get("GARDEN_TEST_EDITS", "40"))
KEYS = {
    "events": "event_id",
    "event_annotations": "annotation_id",
    "documents": "path",
    "idempotency_records": "key",
    "tokens": "token_id",
}


@pytest.fixture
def written(account: Account) -> Account:
    """Two documents and a journal with an annotation for Ada, and a document for Ben."""
    caller = replace(ADA, transaction_id="t-1", agent_action_id="a-1")
    for number in range(1, 5):
        about = account.edit(f"one\n{number}\n", caller=caller, asked=asking(f"k{number}"), **SAID)
    account.edit("over\n", path=OVERVIEW)
    account.log("hm", asked=asking("log"))
    account.log("about the write", path=NOTES, about=about.event_id)
    account.log("hm again")
    account.edit("ben\n", path="users/ben/notes.md", caller=BEN)
    with account.store.document(ADA, NOTES) as stream:
        stream.fail(account.begin(stream, "lost\n", **SAID), {"code": "no_space"})
    account.edit("one\n5\n", caller=caller, **SAID)
    tokens = TokenStore(account.pool, lambda: account.keyring)
    tokens.add(Token(token_id="0" * 12, user_id="ada", role="agent", actor="a", created_at=NOW), bytes(32))
    assert account.faults() == account.faults("ben") == []
    return account


def tamper(url: str, *commands: str) -> None:
    """Change rows as the owner of the server can: past every grant, policy, trigger and foreign key."""
    with connection(url) as owner:
        owner.execute("set session_replication_role = replica")
        for command in commands:
            assert owner.execute(command.encode()).rowcount != 0, command


def columns(opened: Connection, table: str) -> list[tuple[str, str]]:
    return opened.execute(
        "select column_name, data_type from information_schema.columns"
        " where table_schema = 'garden' and table_name = %s order by ordinal_position",
        [table],
    ).fetchall()


def other_value(name: str, type_: str) -> str:
    special = {"status": "'written'", "user_id": "'eve'", "splice_offsets": "splice_offsets || 7"}
    if name == "token_id":
        return "repeat('1', 12)"
    if name.endswith("hash") and type_ == "text":
        return "'sha256:' || repeat('0', 64)"
    by_type = {
        "uuid": "gen_random_uuid()",
        "text": f"coalesce({name}, '') || 'x'",
        "ARRAY": f"{name} || '{{more}}'",
        "jsonb": f"coalesce({name}, '{{}}') || '{{\"more\": 1}}'",
        "integer": f"coalesce({name}, 0) + 1",
        "bigint": f"coalesce({name}, 0) + 1",
        "boolean": f"not {name}",
        "bytea": "decode(repeat('ab', 32), 'hex')",
        "timestamp with time zone": f"coalesce({name}, now()) + interval '1 microsecond'",
    }
    return special.get(name) or by_type[type_]


@pytest.mark.own_database
def test_a_change_to_any_column_of_any_row_is_found(written: Account, database: str) -> None:
    with connection(database) as owner:
        owner.execute("set session_replication_role = replica")
        owner.execute(_DROP_ALL_CHECKS)
        missed = [
            f"{table}.{name} = {value}"
            for table in KEYS
            for name, type_ in columns(owner, table)
            for value in (other_value(name, type_), "null")
            if not noticed(written, owner, table, name, value)
        ]
    assert missed == []


def noticed(account: Account, owner: Connection, table: str, name: str, value: str) -> bool:
    """Whether a change to one of ada's rows is found; the change is undone afterwards."""
    key = KEYS[table]
    rows = f"from garden.{table} where user_id = 'ada' order by {key} limit 1"
    picked = owner.execute(f"select {key}, {name} is null {rows}".encode()).fetchone()
    assert picked is not None
    if value == "null" and (picked[1] or name in ("user_id", key)):
        return True
    owner.execute(f"create temp table kept on commit preserve rows as select * from garden.{table}".encode())
    owner.execute(
        f"update garden.{table} set {name} = {value} where user_id = 'ada' and {key} = %s".encode(),
        [picked[0]],
    )
    found = bool(account.faults() + account.faults("eve"))
    owner.execute(f"delete from garden.{table}".encode())
    owner.execute(f"insert into garden.{table} select * from kept".encode())
    owner.execute("drop table kept")
    assert account.faults() == []
    return found


_DROP_ALL_CHECKS = b"""
do $$
declare each record;
begin
    for each in select conrelid::regclass as of_table, conname
                from pg_constraint
                where connamespace = 'garden'::regnamespace and conrelid <> 0 and contype in ('c', 'f', 'u')
    loop
        execute format('alter table %s drop constraint %I', each.of_table, each.conname);
    end loop;
    for each in select attrelid::regclass as of_table, attname from pg_attribute
                join pg_class on pg_class.oid = attrelid and relkind = 'r'
                where relnamespace = 'garden'::regnamespace and attnotnull and attnum > 0
                  and not exists (select from pg_index
                                  where indrelid = attrelid and indisprimary and attnum = any (indkey)) loop
        execute format('alter table %s alter %I drop not null', each.of_table, each.attname);
    end loop;
end
$$
"""


def of_streams(faults: list[str]) -> list[str]:
    """The places of the faults in streams, without those that the feed tells of."""
    return [place for place in (fault.partition(": ")[0] for fault in faults) if place != "feed:None"]


def nth(sequence: int) -> str:
    return f"where user_id = 'ada' and stream = '{NOTES}' and sequence = {sequence}"


COPY_OF_SIXTH = (
    "insert into garden.events select (jsonb_populate_record(e, jsonb_build_object("
    f"'event_id', gen_random_uuid(), 'sequence', 7))).* from garden.events as e {nth(6)}"
)


@pytest.mark.own_database
@pytest.mark.parametrize(
    ("command", "place"),
    [
        (f"delete from garden.events {nth(3)}", f"{NOTES}:4"),
        (f"delete from garden.events {nth(1)}", f"{NOTES}:2"),
        (f"delete from garden.events {nth(6)}", f"{NOTES}:5"),
        (f"delete from garden.events where stream = '{NOTES}'", f"{NOTES}:None"),
        ("delete from garden.event_annotations", ":3"),
        (f"delete from garden.documents where path = '{NOTES}'", f"{NOTES}:6"),
        (COPY_OF_SIXTH, f"{NOTES}:7"),
        (f"update garden.events set user_id = 'ben' {nth(6)}", f"{NOTES}:5"),
        (f"update garden.events set stream = '', sequence = 4, path = null {nth(6)}", ":4"),
    ],
)
def test_removed_inserted_and_moved_events_are_found_and_the_first_is_named(
    written: Account, database: str, command: str, place: str
) -> None:
    with connection(database) as owner:
        owner.execute(_DROP_ALL_CHECKS)
    tamper(database, command)
    assert written.faults()[0].startswith(f"{place}: ")


def test_swapped_and_reordered_events_are_found(written: Account, database: str) -> None:
    swap = "update garden.events set sequence = {} where user_id = 'ada' and stream = '{}' and sequence = {}"
    tamper(database, *(swap.format(new, NOTES, old) for old, new in ((2, 99), (3, 2), (99, 3))))
    assert of_streams(written.faults()) == [f"{NOTES}:2"]


def test_events_swapped_between_users_are_found_for_both(written: Account, database: str) -> None:
    owner = "update garden.events set user_id = '{}' where user_id = '{}' and stream = '{}' and sequence = 1"
    rename = "update garden.events set stream = '{0}', path = '{0}' where user_id = '{1}' and stream = '{2}'"
    tamper(
        database,
        owner.format("zed", "ben", "users/ben/notes.md"),
        owner.format("ben", "ada", OVERVIEW),
        owner.format("ada", "zed", "users/ben/notes.md"),
        rename.format(OVERVIEW, "ada", "users/ben/notes.md"),
        rename.format("users/ben/notes.md", "ben", OVERVIEW),
    )
    assert of_streams(written.faults()) == [f"{OVERVIEW}:1"]
    assert of_streams(written.faults("ben")) == ["users/ben/notes.md:1"]


@pytest.mark.own_database
def test_an_older_state_is_found(account: Account, database: str) -> None:
    with account.store.document(ADA, NOTES) as stream:
        pending = account.begin(stream, "one\n")
        with connection(database) as owner:
            owner.execute("create table kept as select * from garden.events")
        stream.finish(pending, {})
    tamper(database, "delete from garden.events", "insert into garden.events select * from kept")
    assert len(of_streams(account.faults())) == 1


@pytest.mark.parametrize(
    ("cut_off", "gone"),
    [
        (f"delete from garden.events where stream = '{NOTES}' and sequence > 6", f"7 of {NOTES}"),
        (f"delete from garden.events where stream = '{OVERVIEW}'", f"1 of {OVERVIEW}"),
        (
            "delete from garden.events where user_id = 'ada' and stream = '' and sequence > 3",
            "4 of the journal",
        ),
    ],
    ids=["newest events", "a whole document", "newest of the journal"],
)
def test_events_cut_off_with_an_older_head_are_found(
    written: Account, database: str, cut_off: str, gone: str
) -> None:
    with connection(database) as owner:
        owner.execute("set session_replication_role = replica")
        owner.execute(f"create temp table older as select * from garden.documents where path <> '{OVERVIEW}'")
        written.edit("one\n6\n")
        written.log("the newest")
        written.edit("over and over\n", path=OVERVIEW)
        stream = gone.partition(" of ")[2].replace("the journal", "")
        owner.execute(f"delete from garden.documents where user_id = 'ada' and path = '{stream}'".encode())
        owner.execute(f"insert into garden.documents select * from older where path = '{stream}'".encode())
        owner.execute(cut_off.encode())
        owner.execute("delete from garden.idempotency_records where user_id = 'ada'")
    assert written.faults()[0].startswith("feed:None: ")
    assert f"it is event {gone}" in written.faults()[0]


@pytest.mark.parametrize(
    "command",
    [
        "delete from garden.feed where user_id = 'ada' and position = 2",
        "update garden.feed set what = 'failed' where user_id = 'ada' and position = 2",
        "update garden.feed set event_id = gen_random_uuid() where user_id = 'ada' and position = 2",
        "update garden.feed set user_id = 'ben', position = 2 where user_id = 'ada' and position = 2",
    ],
)
def test_a_changed_feed_is_found(written: Account, database: str, command: str) -> None:
    tamper(database, command)
    assert [fault.partition(":")[0] for fault in written.faults()] == ["feed"] * len(written.faults()) != []


def test_without_the_right_key_nothing_holds(written: Account) -> None:
    written.keyring = Keyring.generate()
    # Three streams, five stored requests and a token.
    assert len(written.faults()) == 9


plain_text = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40)
numbers = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | plain_text,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
edits = st.dictionaries(st.text("xyz", min_size=1), json_values, max_size=4)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(edits)
def test_json_encodes_the_same_after_a_round_trip(value: dict[str, Any]) -> None:
    assert encode(json.loads(json.dumps(value))) == encode(value)


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(edit=edits, words=plain_text)
def test_every_recorded_value_verifies_when_read_back(
    account: Account, edit: dict[str, Any], words: str
) -> None:
    account.edit(words, edit=edit, rationale=words, evidence_refs=(words,))
    assert account.faults() == []


def test_values_that_can_not_be_sealed_are_refused() -> None:
    for value in (object(), {1, 2}, float("nan"), float("inf")):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            encode(value)


EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1.0}),
        (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 2, tzinfo=EAST)),
        (b"ab", memoryview(b"ab")),
        (UUID(int=5), UUID("00000000-0000-0000-0000-000000000005")),
        ((1, 2), [1, 2]),
        (1e300, 10**300),
        (-0.0, 0),
    ],
)
def test_equal_values_encode_alike(one: object, other: object) -> None:
    assert encode(one) == encode(other)


def test_a_text_is_rebuilt_from_its_events_at_every_version(account: Account) -> None:
    texts = ["", "\ufeff---\r\nid: x\r\n---\r\n", "ü\n", "日本語\n" * 50, "日本語\n" * 49 + "x", "the end"]
    for text in texts:
        account.edit(text)
    for version, text in enumerate(texts, start=1):
        assert account.reader.text_at("ada", NOTES, version) == text
    assert account.faults() == []


def test_a_line_hash_over_other_content_is_found(account: Account) -> None:
    with account.store.document(ADA, NOTES) as stream:
        change = replace(account.change(stream, "one\n"), sealed_text="another\n")
        stream.finish(stream.begin(statement(NOTES), change), {})
    assert account.faults() == [f"{NOTES}:1: its line hash is not that of the content it leaves"]


def test_a_line_hash_covers_the_section_where_one_was_edited(account: Account) -> None:
    text = "# T\n\n## Inbox\n<!-- @anchor: inbox v1 -->\n\n- one\n\n## More\n\nelse\n"
    span = parse(text).sections[0].span
    with account.store.document(ADA, NOTES) as stream:
        change = replace(account.change(stream, text), sealed_text=canonical(span.of(text)))
        stream.finish(
            stream.begin(statement(NOTES, edit=EditPayload(asked={}, sealed=(span.start, span.end))), change),
            {},
        )
    assert account.faults() == []
