import subprocess
import sys

import pytest

from garden.events.database import connection
from garden.events.migrations import (
    Migration,
    MigrationError,
    migrate,
    parse_migrations,
    shipped_migrations,
    status,
)

TWO = (
    Migration(1, "first", "create table garden.one (n integer);"),
    Migration(2, "second", "create table garden.two (n integer); insert into garden.two values (1);"),
)

_MIGRATE_IN_A_PROCESS_OF_ITS_OWN = """
import sys
from garden.events.database import connection
from garden.events.migrations import migrate
sys.stdin.readline()
with connection(sys.argv[1]) as opened:
    print(len(migrate(opened)))
"""

_MIGRATE_AND_HANG = """
import sys
from garden.events.database import connection
from garden.events.migrations import Migration, migrate
from tests.events.test_migrations import TWO
with connection(sys.argv[1]) as opened:
    migrate(opened, (TWO[0], Migration(2, "second", "select pg_sleep(600);")))
"""
_HANGING = (
    b"select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"
)


def test_an_empty_database_gets_every_migration_once(empty_database: str) -> None:
    with connection(empty_database) as opened:
        assert [each.version for each in migrate(opened, TWO)] == [1, 2]
        assert migrate(opened, TWO) == []
        assert opened.execute("select count(*) from garden.two").fetchone() == (1,)


def test_only_missing_migrations_are_applied(empty_database: str) -> None:
    with connection(empty_database) as opened:
        migrate(opened, TWO[:1])
        assert [each.version for each in migrate(opened, TWO)] == [2]


def test_the_shipped_migrations_apply(database: str) -> None:
    with connection(database) as opened:
        assert all(each.applied_at for each in status(opened))
        assert len(status(opened)) == len(shipped_migrations()) > 0


def test_the_schema_grants_nothing_by_default(database: str) -> None:
    with connection(database) as opened:
        grants = opened.execute(
            "select count(*) from pg_namespace, aclexplode(nspacl) as grants"
            " where nspname = 'garden' and grants.grantee = 0"
        ).fetchone()
    assert grants == (0,)


def test_processes_that_start_at_once_on_an_empty_database_all_succeed(empty_database: str) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", _MIGRATE_IN_A_PROCESS_OF_ITS_OWN, empty_database],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    applied = [int(racer.communicate("go\n", timeout=120)[0]) for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 4
    assert sum(applied) == len(shipped_migrations())


def test_reading_the_status_changes_nothing(empty_database: str) -> None:
    with connection(empty_database) as opened:
        assert [each.applied_at for each in status(opened, TWO)] == [None, None]
        assert opened.execute("select to_regnamespace('garden')").fetchone() == (None,)


def test_an_applied_migration_that_was_edited_is_refused(empty_database: str) -> None:
    edited = (Migration(1, "first", "create table garden.other (n integer);"), TWO[1])
    with connection(empty_database) as opened:
        migrate(opened, TWO[:1])
        with pytest.raises(MigrationError, match=r"0001_first\.sql was changed after") as refusal:
            migrate(opened, edited)
        assert refusal.value.hint
        assert opened.execute("select to_regclass('garden.two')").fetchone() == (None,)


def test_a_checkout_with_other_line_ends_is_the_same_migration() -> None:
    assert (
        Migration(1, "a", "select 1;\r\nselect 2;\r\n").checksum
        == Migration(1, "a", "select 1;\nselect 2;\n").checksum
    )


def test_a_database_of_a_newer_version_is_refused(empty_database: str) -> None:
    with connection(empty_database) as opened:
        migrate(opened, TWO)
        with pytest.raises(MigrationError, match="0002_second, which this version does not know"):
            migrate(opened, TWO[:1])


def test_a_database_of_the_first_edition_is_named_with_the_way_to_its_files(empty_database: str) -> None:
    with connection(empty_database) as opened:
        migrate(opened, (*TWO, Migration(3, "later", "select 1;")))
        opened.execute("update garden.schema_migrations set name = 'damage_and_home' where version = 3")
        with pytest.raises(MigrationError, match="first edition") as refusal:
            migrate(opened)
    assert "import OLD/users" in str(refusal.value.hint)


def test_a_migration_that_fails_leaves_nothing_behind_and_can_be_tried_again(empty_database: str) -> None:
    broken = (TWO[0], Migration(2, "second", "create table garden.two (n integer); select 1 / 0;"))
    with connection(empty_database) as opened:
        with pytest.raises(
            MigrationError, match="0002_second failed and left nothing behind: division by zero"
        ):
            migrate(opened, broken)
        assert opened.execute("select to_regclass('garden.one') is not null").fetchone() == (True,)
        assert opened.execute("select to_regclass('garden.two')").fetchone() == (None,)
        assert [each.version for each in migrate(opened, TWO)] == [2]


def test_a_killed_migration_releases_its_lock(empty_database: str) -> None:
    victim = subprocess.Popen(
        [sys.executable, "-c", _MIGRATE_AND_HANG, empty_database], stderr=subprocess.PIPE
    )
    with connection(empty_database) as watcher:
        while watcher.execute(_HANGING).fetchone() == (0,):
            assert victim.poll() is None
        victim.kill()
        victim.communicate()
        assert [each.version for each in migrate(watcher, TWO)] == [2]


@pytest.mark.parametrize(
    "names",
    [
        ["0002_second.sql"],
        ["0001_a.sql", "0003_c.sql"],
        ["0001_a.sql", "0001_b.sql"],
        ["1_a.sql"],
        ["0001_A.sql"],
    ],
    ids=" ".join,
)
def test_numbers_run_from_one_without_a_gap(names: list[str]) -> None:
    with pytest.raises(MigrationError, match="is not the name of migration number"):
        parse_migrations((name, "select 1;") for name in names)
