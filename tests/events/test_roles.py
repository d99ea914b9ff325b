"""A login that may not create roles works after an administrator has created them."""

import pytest

from garden.events.database import connection
from garden.events.migrations import MigrationError, migrate
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home
from tests.support.accounts import account_on, fresh_text
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
