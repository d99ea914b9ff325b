"""The logins: one that may not create roles, and the one of daily work in an embedded database."""

from pathlib import Path

import pytest
from psycopg import errors

from garden.application import open_garden
from garden.events.database import connection
from garden.events.migrations import MigrationError, migrate
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home
from tests.support.accounts import account_on, fresh_text
from tests.support.gardens import CRITIC, NOTES, ok, plant
from tests.support.prepared_home import copy_prepared_home
from tests.support.processes import garden


def test_an_administrator_prepares_the_roles_where_the_login_may_not(home: Home) -> None:
    administrator = EmbeddedPostgres(home).ensure_running()
    login = administrator.replace("postgres@/garden", "the%20app@/app")
    with connection(administrator) as opened:
        opened.execute('create role "the app" login')
        opened.execute('create database app owner "the app"')
    with connection(login) as opened, pytest.raises(MigrationError) as refusal:
        migrate(opened)
    assert "are missing or not granted to the app" in refusal.value.message
    assert "garden migrate --print-roles" in refusal.value.message

    printed = garden("migrate", "--print-roles", home=home.path, env={"GARDEN_DATABASE_URL": login}).stdout
    with connection(administrator) as opened:
        opened.execute(printed.encode())
    with connection(login) as opened:
        migrate(opened)
    with account_on(login) as account:
        account.edit(fresh_text())
        account.log("hm")
        assert account.faults() == []
        assert account.maintenance.users() == ["ada"]


def test_a_login_that_may_create_roles_needs_no_preparation(home: Home) -> None:
    administrator = EmbeddedPostgres(home).ensure_running()
    with connection(administrator) as opened:
        opened.execute("create role maker login createrole")
        opened.execute("create database app owner maker")
    login = administrator.replace("postgres@/garden", "maker@/app")
    with connection(login) as opened:
        migrate(opened)
    with account_on(login) as account:
        account.edit(fresh_text())
        assert account.faults() == []


SESSIONS = b"""select distinct usename, rolsuper from pg_stat_activity join pg_roles on usename = rolname
    where application_name like 'memory-garden%' and pid <> pg_backend_pid()"""


def test_daily_work_is_not_done_as_superuser(folder: Path) -> None:
    home = copy_prepared_home(folder / "home")
    with open_garden(home.path) as opened:
        session = opened.session("ada", "companion", role="maintainer")
        plant(session, NOTES)
        ok(session, "fs.append", path=NOTES, text="Slept well.")
        ok(session, "memory.recall", query="slept")
        ok(session, "garden.erase", path=NOTES, text="Slept well.", reason="Asked.")
        assert opened.services.maintenance.pending_migrations() == []
        with connection(EmbeddedPostgres(home).ensure_running()) as owner:
            assert owner.execute(SESSIONS).fetchall() == [("garden_daily", False)]
    for words in (["verify"], ["doctor"], ["erase", "--vacuum"], ["migrate", "--status"], ["keys", "verify"]):
        assert garden(*words, home=home.path).returncode == 0, words


def test_the_daily_login_can_do_only_what_the_service_does(folder: Path) -> None:
    home = copy_prepared_home(folder / "home")
    owner, daily = (
        garden("database", "url", *words, home=home.path).stdout.strip() for words in ([], ["--service"])
    )
    assert ("//postgres@" in owner, "//garden_daily@" in daily) == (True, True)
    with open_garden(home.path) as garden_of_ada:
        plant(garden_of_ada.session("ada", "companion"), CRITIC)
    with connection(daily) as opened:
        assert opened.execute(b"select * from garden.events").fetchall() == []
        for forbidden in (
            b"set role postgres", b"create role another",
            b"create table t (a int)", b"create table garden.t (a int)", b"drop schema garden cascade",
            b"delete from garden.home", b"delete from garden.schema_migrations",
            b"set role garden_maintainer; delete from garden.events",
            b"alter role garden_daily superuser", b"copy (select 1) to program 'true'",
        ):  # fmt: skip
            with pytest.raises(errors.InsufficientPrivilege):
                opened.execute(forbidden)


def test_a_home_without_the_daily_login_gets_it_when_it_is_opened(folder: Path) -> None:
    home = copy_prepared_home(folder / "home")
    with connection(EmbeddedPostgres(home).ensure_running()) as owner:
        for path, left in ((NOTES, b"select 1"), (CRITIC, b"create role garden_daily login")):
            owner.execute(b"drop owned by garden_daily")
            owner.execute(b"drop role garden_daily")
            owner.execute(left)
            with open_garden(home.path) as opened:
                plant(opened.session("ada", "companion"), path)
            assert garden("verify", home=home.path).returncode == 0
