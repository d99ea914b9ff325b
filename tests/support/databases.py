"""Databases for tests: one migrated template a run, cloned in milliseconds for each test that wants one."""

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


class TestServer:
    """The server of a test run: the one named by GARDEN_TEST_DATABASE_URL, or an embedded one."""

    __test__ = False

    def __init__(self, root: Path) -> None:
        self._root = root
        self._prefix = f"{root.name.replace('-', '_')}_".lower()
        outside = os.environ.get(OUTSIDE)
        self._url = outside or EmbeddedPostgres(ensure_home(root / "server")).ensure_running()

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
        """Give the address of a fresh database, which is dropped on leaving."""
        name = self._prefix + secrets.token_hex(6)
        with self.administration() as opened:
            opened.execute(f'create database "{name}" template "{template}"'.encode())
        try:
            yield self.url(name)
        finally:
            self.drop(name)

    def template(self) -> str:
        """Give the name of the migrated template, made by whoever of the run's processes comes first."""
        name = f"{self._prefix}template"
        done = self._root / "template-is-ready"
        with exclusive_lock(self._root / "template.lock", timeout_seconds=60):
            if not done.exists():
                with self.administration() as opened:
                    opened.execute(f'create database "{name}" template template0'.encode())
                with connection(self.url(name)) as opened:
                    migrate(opened)
                done.touch()
        return name

    def drop(self, name: str) -> None:
        with self.administration() as opened:
            opened.execute(f'drop database if exists "{name}" with (force)'.encode())

    def drop_all(self) -> None:
        """Drop what the run made on an outside server; an embedded one goes with its home."""
        with self.administration() as opened:
            names = opened.execute(
                b"select datname from pg_database where starts_with(datname, %s)", [self._prefix]
            ).fetchall()
        for (name,) in names:
            self.drop(name)
