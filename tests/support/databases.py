"""Databases for tests: one migrated template per run, and a clone of it for each test that wants one."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from garden.events.database import Connection, connection
from garden.events.migrations import migrate
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import ensure_home
from garden.home.state_files import exclusive_lock

OUTSIDE = "GARDEN_TEST_DATABASE_URL"
# No test kills this server: the tests that kill a server start their own, with the product's settings.
FAST = ("fsync = off", "full_page_writes = off", "max_wal_size = '128MB'")
# Connections of the last test may still hold locks.
_END_OTHERS = b"""select pg_terminate_backend(pid, 20000) from pg_stat_activity
where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()"""
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

    @staticmethod
    def clear(url: str) -> None:
        """Delete every row of a migrated database, which takes a tenth of the time of a new clone."""
        with connection(url) as opened:
            # The tables refuse deletion by their triggers; only a superuser may pass them by.
            opened.execute(b"set session_replication_role = replica")
            opened.execute(_END_OTHERS)
            [(deletions,)] = opened.execute(_DELETIONS).fetchall()
            opened.execute(deletions.encode())

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
