"""Connections to the database, and what the database says of itself."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
from psycopg.rows import TupleRow

from events.statements import statements
from grammar.errors import GardenError

OLDEST_SERVER = 15
CONNECT_SECONDS_MAX = 10

Connection = psycopg.Connection[TupleRow]

_HOST_PATH = re.compile(r'"/(?:[^"]*/)?([^"/]*)"')


class DatabaseUnavailableError(GardenError):
    """The database can't be reached, or broke the connection off."""

    code = "unavailable"


@dataclass(frozen=True)
class ServerFacts:
    """What a server says of itself."""

    version_number: int
    version: str
    clock: datetime
    extensions: tuple[str, ...]
    available_extensions: tuple[str, ...]

    @property
    def is_supported(self) -> bool:
        """Whether the server is new enough."""
        return self.version_number // 10000 >= OLDEST_SERVER


@contextmanager
def connection(url: str, **options: Any) -> Iterator[Connection]:
    """Open one connection in autocommit mode; whatever cuts it off becomes `unavailable`."""
    try:
        with _connect(url, options) as opened:
            yield opened
    except psycopg.OperationalError as error:
        raise unavailable(error) from None


def _connect(url: str, options: dict[str, Any]) -> Connection:
    options = {"connect_timeout": CONNECT_SECONDS_MAX, "application_name": "memory-garden", **options}
    try:
        return psycopg.connect(url, autocommit=True, **options)
    except psycopg.ProgrammingError as error:
        raise unavailable(error) from None


def unavailable(error: Exception) -> DatabaseUnavailableError:
    """Say that the database can't be used now, and why."""
    return DatabaseUnavailableError(
        f"The database is not available: {_first_line(error)}",
        hint="Check that the server runs, and GARDEN_DATABASE_URL; 'garden doctor' tells more.",
    )


def server_facts(opened: Connection) -> ServerFacts:
    """Ask the server for its version, its clock and its extensions."""
    row = opened.execute(statements("server")["facts"]).fetchone()
    if row is None:
        raise DatabaseUnavailableError("The database gave no answer.", hint="Try again.")
    number, version, clock, installed, available = row
    return ServerFacts(number, version, clock, tuple(installed), tuple(available))


def _first_line(error: Exception) -> str:
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    # Callers are told this as well, and where something lies on the host is no business of theirs.
    return _HOST_PATH.sub(r'"\1"', line)
