"""Connections to the database, and what the database says of itself."""

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow

from garden.events.statements import statements
from garden.grammar.errors import GardenError

OLDEST_SERVER = 15
CONNECT_SECONDS_MAX = 10
_SILENT_SECONDS = 10.0

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
    """Open one connection in autocommit mode; whatever cuts it off becomes `unavailable`.

    For those who run the service, not for its callers: the message says why in the database's own words.
    """
    _check_understood(url)
    options = {"connect_timeout": CONNECT_SECONDS_MAX, "application_name": "memory-garden", **options}
    try:
        with psycopg.connect(url, autocommit=True, **options) as opened:
            yield opened
    except psycopg.OperationalError as error:
        raise DatabaseUnavailableError(
            f"The database is not available: {_first_line(error)}",
            hint="Check that the server runs, and GARDEN_DATABASE_URL; 'garden doctor' tells more.",
        ) from None


def _check_understood(url: str) -> None:
    """Refuse an address that is misunderstood; what would be said of it otherwise may quote its password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        parts = {"host": "@"}
    port = str(parts.get("port") or "").replace(",", "")
    if "@" in str(parts.get("host") or "") or (port and not port.isdigit()):
        raise DatabaseUnavailableError(
            "GARDEN_DATABASE_URL can't be understood.",
            hint="It reads postgresql://user:password@host:port/database; in a password, % is written %25, "
            "/ is written %2F, and @ is written %40.",
        )


Log = Callable[[str], None]
"""Is told in the database's own words why it is away."""


def log_why(reason: str) -> None:
    """Log why the database is away; to standard error where nobody has said where logs go."""
    logging.getLogger("garden.database").warning("the database is not available: %s", reason)


class SeldomLog:
    """Logs why the database is away once in a while, however many calls it befalls."""

    def __init__(self) -> None:
        self._told, self._told_at = "", 0.0

    def __call__(self, reason: str) -> None:
        """Log it, unless it was told just before."""
        now = time.monotonic()
        if reason != self._told or now - self._told_at >= _SILENT_SECONDS:
            self._told, self._told_at = reason, now
            log_why(reason)


def unavailable(error: Exception, log: Log = log_why) -> DatabaseUnavailableError:
    """Say to whoever calls that the database can't be used now; why, which names the host, is for the log."""
    log(_first_line(error))
    return DatabaseUnavailableError(
        "The database is not available.",
        hint="Try again in a moment; where that doesn't help, tell the operator: the log says why.",
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
    # Whoever may run a command need not know where everything lies on the host.
    return _HOST_PATH.sub(r'"\1"', line)
