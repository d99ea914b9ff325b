"""Databases for tests: one migrated template per run, and a clone of it for each test that wants one."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from garden.events.database import Connection, connection
from garden.events.migrations import migrate
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import ensure_home
from garden.home.state_files import exclusive_lock

OUTSIDE = "GARDEN_TEST_DATABASE_URL"
# No test kills this server: the tests that kill a server start their own, with the product's settings.
FAST = ("fsync = off", "full_page_writes = off", "max_wal_size = '128MB'")
# The tables refuse deletion by their triggers; only a superuser may pass them by.
_PREPARE = b"""set session_replication_role = replica;
set statement_timeout = '20s';
create temporary view others as select pid from pg_stat_activity
where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()"""
# Connections of the last test may still hold locks. `pg_terminate_backend` would wait by tenths of a second.
_END_OTHERS = b"""do $$ begin
perform pg_terminate_backend(pid) from others;
while exists (select from others) loop
    perform pg_stat_clear_snapshot(), pg_sleep(0.001);
end loop;
end $$"""
_DELETIONS = b"""select string_agg(format('delete from garden.%I', tablename), ';') from pg_tables
where schemaname = 'garden' and tablename <> 'schema_migrations'"""
# Copying files costs less CPU than writing every page to the log, and dropping the copy costs half.
_CREATE = 'create database "{name}" template "{template}" strategy file_copy'


class TestServer:
    """The server of a test run: the one named by GARDEN_TEST_DATABASE_URL, or an embedded one."""

    __test__ = False

    def __init__(self, root: Path) -> None:
        self._root = root
        self._prefix = f"{root.name.replace('-', '_')}_".lower()
        self._is_outside = OUTSIDE in os.environ
        self._url = (
            os.environ[OUTSIDE]
            if self._is_outside
            else EmbeddedPostgres(ensure_home(root / "server")).ensure_running()
        )

    def url(self, database: str) -> str:
        address, mark, options = self._url.partition("?")
        scheme, _, rest = address.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}/{database}{mark}{options}"

    @contextmanager
    def administration(self) -> Iterator[Connection]:
        with connection(self._url) as opened:
            yield opened

    @contextmanager
    def database(self, template: str = "template0") -> Iterator[str]:
        """Yield the address of a fresh database; drop it afterwards."""
        name = self._prefix + secrets.token_hex(6)
        with self.administration() as opened:
            opened.execute(_CREATE.format(name=name, template=template).encode())
        try:
            yield self.url(name)
        finally:
            self.drop(name)

    def template(self) -> str:
        """Return the name of the migrated template; the first of the run's processes makes it."""
        name = f"{self._prefix}template"
        done = self._root / "template-is-ready"
        with exclusive_lock(self._root / "template.lock", timeout_seconds=60):
            if not done.exists():
                with self.administration() as opened:
                    if not self._is_outside:
                        for setting in FAST:
                            opened.execute(f"alter system set {setting}".encode())
                        opened.execute(b"select pg_reload_conf()")
                    opened.execute(_CREATE.format(name=name, template="template0").encode())
                with connection(self.url(name)) as opened:
                    migrate(opened)
                done.touch()
        return name

    def drop(self, name: str) -> None:
        with self.administration() as opened:
            opened.execute(f'drop database if exists "{name}" with (force)'.encode())

    def drop_all(self) -> None:
        """Drop the run's databases on an outside server; an embedded server goes with its home."""
        with self.administration() as opened:
            names = opened.execute(
                b"select datname from pg_database where starts_with(datname, %s)", [self._prefix]
            ).fetchall()
        for (name,) in names:
            self.drop(name)


class KeptDatabase:
    """A migrated database that tests use one by one.

    With a connection kept for that, deleting every row takes a twentieth of the time of a new clone.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._connect()

    def _connect(self) -> None:
        self._opened = psycopg.connect(self.url, autocommit=True)
        self._opened.execute(_PREPARE)
        [(self._deletions,)] = self._opened.execute(_DELETIONS).fetchall()

    def clear(self) -> None:
        """Delete every row; the last test may have ended every connection."""
        try:
            self._opened.execute(_END_OTHERS)
        except psycopg.OperationalError:
            self._connect()
            self._opened.execute(_END_OTHERS)
        self._opened.execute(self._deletions)

    def close(self) -> None:
        self._opened.close()
