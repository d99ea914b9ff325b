"""Single connections to the database, and facts about the server."""

import logging
import os
import re
import socket
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
    """The database can't be reached, or closed the connection."""

    code = "unavailable"


@dataclass(frozen=True)
class ServerFacts:
    """Version, clock and extensions of a server."""

    version_number: int
    version: str
    clock: datetime
    extensions: tuple[str, ...]
    available_extensions: tuple[str, ...]

    @property
    def is_supported(self) -> bool:
        """Whether the server is new enough."""
        return self.version_number // 10000 >= OLDEST_SERVER


def client_name() -> str:
    """Name this process to the server, which keeps 63 characters."""
    return f"memory-garden {os.getpid()}@{_host()}"


def process_of(client: str) -> str | None:
    """Describe a process by its name; other programs have none."""
    match = re.fullmatch("memory-garden ([0-9]+)@(.*)", client)
    return match and f"process {match[1]} on {'this' if match[2] == _host() else 'another'} machine"


def _host() -> str:
    return socket.gethostname()[:30]


@contextmanager
def connection(url: str, **options: Any) -> Iterator[Connection]:
    """Open one connection in autocommit mode; a lost connection is reported as `unavailable`.

    For operators, not for callers of tools: the message quotes the database.
    """
    _check_url(url)
    options = {"connect_timeout": CONNECT_SECONDS_MAX, "application_name": client_name(), **options}
    try:
        with psycopg.connect(url, autocommit=True, **options) as opened:
            yield opened
    except psycopg.OperationalError as error:
        raise DatabaseUnavailableError(
            f"The database is not available: {_first_line(error)}",
            hint="Check that the server runs, and GARDEN_DATABASE_URL; 'garden doctor' tells more.",
        ) from None


def _check_url(url: str) -> None:
    """Refuse an address that psycopg would misread: its own error message may quote the password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        parts = {"host": "@"}
    port = str(parts.get("port") or "").replace(",", "")
    if "@" in str(parts.get("host") or "") or (port and not port.isdigit()):
        raise DatabaseUnavailableError(
            "GARDEN_DATABASE_URL is not a valid address.",
            hint="It reads postgresql://user:password@host:port/database; in a password, % is written %25, "
            "/ is written %2F, and @ is written %40.",
        )


Log = Callable[[str], None]
"""Takes the reason, in the database's words, why it is away."""


def log_why(reason: str) -> None:
    """Log why the database is away; to standard error where logging is not set up."""
    logging.getLogger("garden.database").warning("the database is not available: %s", reason)


class SeldomLog:
    """Logs why the database is away at most every ten seconds, however many calls fail."""

    def __init__(self) -> None:
        self._logged, self._logged_at = "", 0.0

    def __call__(self, reason: str) -> None:
        """Log the reason, unless it was logged just before."""
        now = time.monotonic()
        if reason != self._logged or now - self._logged_at >= _SILENT_SECONDS:
            self._logged, self._logged_at = reason, now
            log_why(reason)


def unavailable(error: Exception, log: Log = log_why) -> DatabaseUnavailableError:
    """Log the reason, which names the host, and give the caller an error without it."""
    log(_first_line(error))
    return DatabaseUnavailableError(
        "The database is not available.",
        hint="Try again in a moment; if that does not help, tell the operator: the log says why.",
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
    # A user who may run commands need not know the paths of the host.
    return _HOST_PATH.sub(r'"\1"', line)
