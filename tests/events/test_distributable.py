"""The schema can be distributed by user: no key, reference, policy or statement looks past one user."""

import re
from collections.abc import Iterator

import pytest

from garden.events.database import connection
from garden.events.distribution import NotDistributableError, distribute
from garden.events.statements import statements

# Copied to every host; all other tables belong to users.
EVERYWHERE = {"home", "log_checkpoints", "schema_migrations"}
# What the service and the readers run; the maintainer's statements go over all users.
OF_ONE_USER = ("store", "queries", "feed", "tokens")
OVER_ALL_USERS = {("tokens", "all"), ("tokens", "live"), ("tokens", "ended")}
_TABLE = re.compile(r"(?:from|join|update|into)\s+garden\.(?!acting)([a-z_]+)\b(?!\()")


def ask(database: str, sql: str) -> set[str]:
    with connection(database) as asking:
        return {name for (name,) in asking.execute(sql.encode()).fetchall()}


IN_GARDEN = "relnamespace = 'garden'::regnamespace"


def test_every_table_but_three_has_a_user(database: str) -> None:
    tables = f"select relname::text from pg_class where {IN_GARDEN} and relkind = 'r'"
    has_user = "select from pg_attribute where attrelid = pg_class.oid and attname = 'user_id'"
    assert ask(database, f"{tables} and not exists ({has_user})") == EVERYWHERE
    assert len(ask(database, tables)) > len(EVERYWHERE)


def test_every_key_and_reference_begins_with_the_user(database: str) -> None:
    first = "(select attname from pg_attribute where attrelid = {} and attnum = {}[{}])"
    keys = (
        "select conname::text from pg_constraint where connamespace = 'garden'::regnamespace"
        " and contype in ('p', 'u', 'f') and conrelid::regclass::text not in"
        f" ({', '.join(repr(f'garden.{name}') for name in sorted(EVERYWHERE))})"
    )
    own, other = first.format("conrelid", "conkey", 1), first.format("confrelid", "confkey", 1)
    assert ask(database, f"{keys} and {own} <> 'user_id'") == set()
    assert ask(database, f"{keys} and contype = 'f' and {other} <> 'user_id'") == set()
    assert len(ask(database, keys)) > 5
    unique = f"from pg_index join pg_class on oid = indexrelid where {IN_GARDEN} and indisunique"
    columns = ask(database, f"select {first.format('indrelid', 'indkey', 0)}::text {unique}")
    assert columns == {"user_id", "only_one", "size", "version"}


def test_there_is_no_sequence(database: str) -> None:
    assert ask(database, f"select relname::text from pg_class where {IN_GARDEN} and relkind = 'S'") == set()


def test_no_policy_has_a_sub_select(database: str) -> None:
    policies = "select policyname::text from pg_policies where schemaname = 'garden'"
    assert ask(database, f"{policies} and concat(qual, with_check) ~* 'select|current_setting'") == set()
    assert ask(database, f"{policies} and concat(qual, with_check) ~ 'acting_user'") != set()


def test_the_user_is_read_by_a_stable_parallel_safe_function(database: str) -> None:
    found = "select provolatile::text || proparallel::text from pg_proc where proname = 'acting_user'"
    assert ask(database, found) == {"ss"}


@pytest.mark.parametrize("file", OF_ONE_USER)
def test_every_statement_of_the_service_names_its_user(file: str) -> None:
    unnamed = {
        name
        for name, sql in statements(file).items()
        if (file, name) not in OVER_ALL_USERS and _TABLE.search(sql.decode()) and b"%(user_id)s" not in sql
    }
    assert unnamed == set()


def test_every_statement_of_a_function_names_its_user(database: str) -> None:
    with connection(database) as asking:
        sources = asking.execute(
            "select proname, prosrc from pg_proc where pronamespace = 'garden'::regnamespace"
        ).fetchall()
    unnamed = [(name, sql) for name, source in sources for sql in without_user(source)]
    assert unnamed == []
    assert len(sources) > 10


def without_user(source: str) -> Iterator[str]:
    """The statements of a function on tables that name no user, and those that begin a join with values."""
    for sql in re.sub("--[^\n]*", "", source).split(";"):
        if (_TABLE.search(sql) and "user_id" not in sql) or re.search(r"from\s*\(\s*values", sql):
            yield sql


def test_a_database_without_citus_is_refused_with_a_hint(database: str) -> None:
    with connection(database) as opened, pytest.raises(NotDistributableError, match="citus") as refused:
        distribute(opened)
    assert "create extension" in str(refused.value.hint)
