"""Connections kept open between calls; none can read or write before a transaction names its user."""

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.rows import DictRow, dict_row, tuple_row

from garden.events.database import (
    CONNECT_SECONDS_MAX,
    DatabaseUnavailableError,
    Log,
    SeldomLog,
    client_name,
    log_why,
    unavailable,
)
from garden.events.idempotency import InProgressError
from garden.events.statements import statements
from garden.grammar.errors import GardenError

LOCK_SECONDS_MAX = 10
STATEMENT_SECONDS_MAX = 30
# Before a transaction has named a user, this role sees nothing and writes nothing.
_ROLE = "garden_service"

Result = TypeVar("Result")


class NotRecordableError(GardenError):
    """A value that the event log does not accept."""

    code = "invalid_input"


class PoolBusyError(GardenError):
    """Every connection is in use; the database itself is well, so connecting again does not help."""

    code = "unavailable"


Work = Callable[[], None]
"""Work that a caller does while the database works."""


class PooledConnection(psycopg.Connection[DictRow]):
    """A connection that does the caller's work `meanwhile`, between sending a statement and its answer.

    It reports a failed wait for an answer as an error of the database. It keeps a cursor for each statement,
    with what psycopg has worked out for the statement's values.
    """

    meanwhile: Work | None = None

    def __init__(self, *words: Any, **named: Any) -> None:
        super().__init__(*words, **named)
        self._cursors: dict[bytes, psycopg.Cursor[DictRow]] = {}

    def ask(
        self, statement: bytes, values: Mapping[str, Any], meanwhile: Work | None = None
    ) -> psycopg.Cursor[DictRow]:
        """Run a statement in one round trip; do the caller's work meanwhile.

        An error that is no answer of the server closes the connection: the answer might be left on its way,
        and be taken for that of the next statement.
        """
        cursor = self._cursors.get(statement)
        if cursor is None:
            cursor = self._cursors[statement] = self.cursor()
        self.meanwhile = meanwhile
        try:
            return cursor.execute(statement, values)
        except BaseException as error:
            if getattr(error, "sqlstate", None) is None:
                self.close()
            raise
        finally:
            self.meanwhile = None

    def wait(self, gen: Generator[Any, Any, Any], *words: Any, **named: Any) -> Any:
        """Wait for an answer of the server."""
        if self.meanwhile is not None:
            gen = _working(gen, self.meanwhile)
        try:
            return super().wait(gen, *words, **named)
        except OSError as error:
            raise psycopg.OperationalError(f"waiting for it failed: {error.strerror}") from None


def _working(answer: Generator[Any, Any, Any], work: Work) -> Generator[Any, Any, Any]:
    """Wait for an answer as psycopg does, and work as soon as the statement is sent."""
    try:
        awaited = next(answer)
        work()
        while True:
            awaited = answer.send((yield awaited))
    except StopIteration as ended:
        return ended.value


class Pool:
    """A bounded number of connections to one database, kept open between calls.

    It has no threads: the call that needs a connection makes it, so a call fails at once while the database
    is away and works again as soon as it is back. `revive` tries to start the database and returns whether it
    did.
    """

    lock_seconds: float = LOCK_SECONDS_MAX

    def __init__(
        self,
        url: str,
        *,
        size_max: int = 10,
        lock_seconds: float = LOCK_SECONDS_MAX,
        statement_seconds: float = STATEMENT_SECONDS_MAX,
        revive: Callable[[], bool] | None = None,
    ) -> None:
        options = {
            "role": _ROLE,
            "lock_timeout": f"{lock_seconds * 1000:.0f}",
            "statement_timeout": f"{statement_seconds * 1000:.0f}",
            "idle_in_transaction_session_timeout": f"{statement_seconds * 2000:.0f}",
            "client_connection_check_interval": "1000",
            # A host that lost its power does not close its connections. The server keeps their locks until it
            # notices, which would take two hours without these settings.
            "tcp_keepalives_idle": "15",
            "tcp_keepalives_interval": "5",
            "tcp_keepalives_count": "3",
            "tcp_user_timeout": "30000",
            "timezone": "UTC",
        }
        self._url = url
        self._revive = revive
        self._options = " ".join(f"-c {name}={value}" for name, value in options.items())
        self._size_max = size_max
        self.lock_seconds = lock_seconds
        self._wait_seconds = lock_seconds + statement_seconds
        self._freed = threading.Condition(threading.Lock())
        self._in_use = 0
        self._log = SeldomLog()
        # The one used last is taken first: it is most likely alive.
        self._idle: deque[PooledConnection] = deque()

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.drop_idle_connections()

    @property
    def in_use(self) -> int:
        """The number of connections in use."""
        return self._in_use

    @contextmanager
    def connection(self) -> Iterator[PooledConnection]:
        """Lend a connection; after any error it is closed, and its locks go with it."""
        connection = self.take()
        try:
            with translate_errors():
                yield connection
        except BaseException:
            connection.close()
            raise
        finally:
            self.give_back(connection)

    def read(self, work: Callable[[PooledConnection], Result]) -> Result:
        """Do repeatable work, and repeat it once if a restart of the server has cut the connection."""
        try:
            with self.connection() as connection:
                return work(connection)
        except DatabaseUnavailableError:
            self.drop_idle_connections()
        with self.connection() as connection:
            return work(connection)

    def fetch(
        self,
        identity: str,
        file: str,
        name: str,
        values: Mapping[str, Any],
        *,
        prepare: bool = True,
        as_tuples: bool = False,
    ) -> list[Any]:
        """Run a repeatable statement as one identity, in one round trip and one transaction.

        Rows come as dictionaries or, without the cost of their names and of text, `as_tuples`.
        """

        def ask(connection: PooledConnection) -> list[Any]:
            with connection.pipeline():
                connection.execute(statements("identities")[identity], values, prepare=True)
                found: psycopg.Cursor[Any] = connection.execute(
                    statements(file)[name], values, prepare=prepare, binary=as_tuples
                )
                if as_tuples:
                    found.row_factory = tuple_row
            return [] if found.rownumber is None else found.fetchall()

        return self.read(ask)

    def take(self) -> PooledConnection:
        """Lend a connection until `give_back`."""
        with self._freed:
            if not self._freed.wait_for(lambda: self._in_use < self._size_max, self._wait_seconds):
                raise PoolBusyError(
                    "Every connection to the database has been in use for too long.",
                    hint="Try again in a moment.",
                )
            self._in_use += 1
            if self._idle:
                return self._idle.pop()
        try:
            with translate_errors(self._log):
                return self._connect()
        except BaseException:
            self._free(None)
            raise

    def take_idle(self) -> PooledConnection | None:
        """Lend an idle connection until `give_back`, or None; nothing is waited for."""
        with self._freed:
            if not self._idle or self._in_use >= self._size_max:
                return None
            self._in_use += 1
            return self._idle.pop()

    def give_back(self, connection: PooledConnection) -> None:
        """Take a connection back, and keep it unless it is closed."""
        self._free(None if connection.closed else connection)

    def _free(self, connection: PooledConnection | None) -> None:
        with self._freed:
            if connection is not None:
                self._idle.append(connection)
            self._in_use -= 1
            self._freed.notify()

    def drop_idle_connections(self) -> None:
        """Close the idle connections: after a restart of the server they are dead."""
        with self._freed:
            dropped, self._idle = self._idle, deque()
        for connection in dropped:
            connection.close()

    def _connect(self) -> PooledConnection:
        try:
            return self._open()
        except psycopg.OperationalError:
            if self._revive is None or not self._revive():
                raise
        return self._open()

    def _open(self) -> PooledConnection:
        try:
            return PooledConnection.connect(
                self._url,
                autocommit=True,
                row_factory=dict_row,
                # To prepare a statement takes a round trip more, so not for a process that writes once.
                prepare_threshold=1,
                application_name=client_name(),
                connect_timeout=CONNECT_SECONDS_MAX,
                options=self._options,
                keepalives_idle=30,
                tcp_user_timeout=30_000,
            )
        except OSError as error:
            raise unavailable(error, self._log) from None


@contextmanager
def translate_errors(log: Log = log_why) -> Iterator[None]:
    """Turn errors of the database into errors that say what to do."""
    try:
        yield
    except errors.LockNotAvailable:
        raise InProgressError(
            "Another change of this document is taking too long.", hint="Try again in a few seconds."
        ) from None
    except (psycopg.DataError, errors.CheckViolation, errors.NotNullViolation, UnicodeEncodeError) as error:
        raise NotRecordableError(
            f"This can't be recorded: {str(error).splitlines()[0]}.",
            hint="Ids are lower-case letters, digits, '-' and '_'; texts hold no NUL and no lone surrogates.",
        ) from None
    except psycopg.OperationalError as error:
        raise unavailable(error, log) from None
