"""Migrations of the database to this version's schema: numbered SQL files, forward only.

Each file runs in one transaction with the row that records it, under a lock: any number of processes may
start on an empty database at once, and any of them may be killed.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from garden.events.database import Connection
from garden.events.statements import statements
from garden.grammar.errors import GardenError

AnyConnection = psycopg.Connection[Any]

_SQL = "migrations"
_FILE_NAME = re.compile(r"([0-9]{4})_([a-z0-9_]+)\.sql")
# An arbitrary number, the same in every version of the program.
LOCK_KEY = 0x6761_7264_656E
# The third migration of the first edition, whose records this version does not read.
_FIRST_EDITION = (3, "damage_and_home")


class MigrationError(GardenError):
    """The database does not fit the migration files, or a migration failed."""

    code = "unavailable"


@dataclass(frozen=True)
class Migration:
    """One numbered SQL file."""

    version: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """The hash of the file, the same for every kind of line ends."""
        return "sha256:" + hashlib.sha256(self.sql.replace("\r\n", "\n").encode()).hexdigest()


@dataclass(frozen=True)
class MigrationStatus:
    """When a migration was applied to a database; None if it is still missing."""

    version: int
    name: str
    applied_at: datetime | None


@cache
def shipped_migrations() -> tuple[Migration, ...]:
    """Read the migrations of this version."""
    files = (entry for entry in resources.files("garden.migrations").iterdir() if entry.name.endswith(".sql"))
    return parse_migrations((file.name, file.read_text("utf-8")) for file in files)


def parse_migrations(files: Iterable[tuple[str, str]]) -> tuple[Migration, ...]:
    """Make migrations of file names and contents; their numbers start at 1 and have no gap."""
    migrations = []
    for expected, (file_name, sql) in enumerate(sorted(files), start=1):
        match = _FILE_NAME.fullmatch(file_name)
        if match is None or int(match[1]) != expected:
            raise MigrationError(
                f"'{file_name}' is not the name of migration number {expected}.",
                hint=f"Migrations are numbered without gaps, like {expected:04d}_what_it_does.sql.",
            )
        migrations.append(Migration(expected, match[2], sql))
    return tuple(migrations)


def status(connection: AnyConnection, migrations: Sequence[Migration] | None = None) -> list[MigrationStatus]:
    """Compare a database with the migration files; refuse one that does not fit them."""
    migrations = shipped_migrations() if migrations is None else migrations
    _refuse_first_edition(applied := _applied_migrations(connection))
    _refuse_unknown(applied, migrations)
    return [MigrationStatus(each.version, each.name, _applied_at(each, applied)) for each in migrations]


def migrate(connection: Connection, migrations: Sequence[Migration] | None = None) -> list[MigrationStatus]:
    """Apply the missing migrations and return them; costs two cheap queries if there are none."""
    migrations = shipped_migrations() if migrations is None else migrations
    mine: set[int] = set()
    while pending(connection, migrations):
        with _explain_errors("The migrations"), connection.transaction():
            connection.execute(statements(_SQL)["lock"], [LOCK_KEY])
            connection.execute(statements(_SQL)["prepare"])
            # Another process may have applied them while this one waited for the lock.
            for migration in pending(connection, migrations)[:1]:
                _apply(connection, migration)
                mine.add(migration.version)
    return [each for each in status(connection, migrations) if each.version in mine] if mine else []


def pending(connection: AnyConnection, migrations: Sequence[Migration] | None = None) -> list[Migration]:
    """List the missing migrations; refuse a database that does not fit the files."""
    migrations = shipped_migrations() if migrations is None else migrations
    statuses = status(connection, migrations)
    return [each for each, at in zip(migrations, statuses, strict=True) if at.applied_at is None]


def _apply(connection: Connection, migration: Migration) -> None:
    with _explain_errors(f"Migration {migration.version:04d}_{migration.name}"):
        connection.execute(migration.sql.encode())
        values = (migration.version, migration.name, migration.checksum)
        connection.execute(statements(_SQL)["record"], values)


@contextmanager
def _explain_errors(what: str) -> Iterator[None]:
    try:
        yield
    except psycopg.OperationalError:
        raise
    except psycopg.Error as error:
        raise MigrationError(
            f"{what} failed and left nothing behind: {error}",
            hint="The login must be able to write, and to create schemas, tables and roles.",
        ) from error


def _applied_migrations(connection: AnyConnection) -> dict[int, tuple[str, str, datetime]]:
    cursor = connection.cursor(row_factory=tuple_row)
    if cursor.execute(statements(_SQL)["is_prepared"]).fetchone() != (True,):
        return {}
    return {row[0]: (row[1], row[2], row[3]) for row in cursor.execute(statements(_SQL)["applied"])}


def _applied_at(migration: Migration, applied: dict[int, tuple[str, str, datetime]]) -> datetime | None:
    name, checksum, applied_at = applied.get(migration.version, ("", migration.checksum, None))
    if checksum != migration.checksum:
        raise MigrationError(
            f"Migration {migration.version:04d}_{name}.sql was changed after this database had applied it.",
            hint="Put the file back as it was, and make the change in a new migration.",
        )
    return applied_at


def _refuse_first_edition(applied: dict[int, tuple[str, str, datetime]]) -> None:
    version, name = _FIRST_EDITION
    if version in applied and applied[version][0] == name:
        raise MigrationError(
            "The first edition of memory-garden made this database, and this one can't read its event log.",
            hint="Make a new home, and import the old one's files: garden --home NEW import OLD/users",
        )


def _refuse_unknown(applied: dict[int, tuple[str, str, datetime]], migrations: Sequence[Migration]) -> None:
    unknown = sorted(set(applied) - {each.version for each in migrations})
    if unknown:
        newest = f"{unknown[-1]:04d}_{applied[unknown[-1]][0]}"
        raise MigrationError(
            f"The database has migration {newest}, which this version does not know.",
            hint="Use the version of memory-garden that migrated it, or a newer one.",
        )
