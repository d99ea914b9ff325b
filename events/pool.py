"""Connections kept open between calls, each harmless until a transaction says for whom it acts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import psycopg
from psycopg import errors
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from events.database import CONNECT_SECONDS_MAX, DatabaseUnavailableError, unavailable
from events.idempotency import InProgressError

LOCK_SECONDS_MAX = 10
STATEMENT_SECONDS_MAX = 30
# Before a transaction has named a user, this role sees nothing and writes nothing.
_ROLE = "garden_service"

Result = TypeVar("Result")
PooledConnection = psycopg.Connection[DictRow]


class Pool:
    """A bounded number of connections to one database, which outlives restarts of the server."""

    def __init__(
        self,
        url: str,
        *,
        size_max: int = 10,
        lock_seconds: float = LOCK_SECONDS_MAX,
        statement_seconds: float = STATEMENT_SECONDS_MAX,
    ) -> None:
        options = {
            "role": _ROLE,
            "lock_timeout": f"{lock_seconds * 1000:.0f}",
            "statement_timeout": f"{statement_seconds * 1000:.0f}",
            "idle_in_transaction_session_timeout": f"{statement_seconds * 2000:.0f}",
            "client_connection_check_interval": "1000",
            "timezone": "UTC",
        }
        self._pool: ConnectionPool[PooledConnection] = ConnectionPool(
            url,
            min_size=0,
            max_size=size_max,
            timeout=CONNECT_SECONDS_MAX,
            reconnect_timeout=CONNECT_SECONDS_MAX,
            open=False,
            kwargs={
                "autocommit": True,
                "row_factory": dict_row,
                "application_name": "memory-garden",
                "connect_timeout": CONNECT_SECONDS_MAX,
                "options": " ".join(f"-c {name}={value}" for name, value in options.items()),
                "keepalives_idle": 30,
                "tcp_user_timeout": 30_000,
            },
        )

    def __enter__(self) -> "Pool":
        self._pool.open()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    @contextmanager
    def connection(self) -> Iterator[PooledConnection]:
        """Lend a connection; one on which anything went wrong is closed, and its locks go with it."""
        connection = self.take()
        try:
            with translated():
                yield connection
        except BaseException:
            connection.close()
            raise
        finally:
            self.give_back(connection)

    def read(self, work: Callable[[PooledConnection], Result]) -> Result:
        """Do what may be done twice, and do it again where a restart of the server had cut the connection."""
        try:
            with self.connection() as connection:
                return work(connection)
        except DatabaseUnavailableError:
            self.drop_dead_connections()
        with self.connection() as connection:
            return work(connection)

    def take(self) -> PooledConnection:
        """Lend a connection that is to be given back."""
        with translated():
            return self._pool.getconn()

    def give_back(self, connection: PooledConnection) -> None:
        """Take a connection back; a closed one is replaced."""
        self._pool.putconn(connection)

    def drop_dead_connections(self) -> None:
        """Replace the idle connections that a restart of the server has cut off."""
        with translated():
            self._pool.check()


@contextmanager
def translated() -> Iterator[None]:
    """Turn the database's troubles into errors that say what to do."""
    try:
        yield
    except errors.LockNotAvailable:
        raise InProgressError(
            "Another change of this document is taking too long.", hint="Try again in a few seconds."
        ) from None
    except (psycopg.OperationalError, PoolTimeout, PoolClosed) as error:
        raise unavailable(error) from None
