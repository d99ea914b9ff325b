"""The process that holds a stream's lock, for the error of a caller who waited in vain."""

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg import errors

from garden.events.database import process_of
from garden.events.idempotency import InProgressError
from garden.events.pool import PooledConnection
from garden.events.statements import statements


@contextmanager
def report_holder(connection: PooledConnection, lock: int) -> Iterator[None]:
    """Turn a vain wait for a lock into an error that names its holder, which may be stopped."""
    try:
        yield
    except errors.LockNotAvailable:
        with connection.transaction():
            connection.execute(statements("migrations")["act_as_login"])
            holder = connection.execute(statements("store")["lock_holder"], {"lock": lock}).fetchone()
        if holder is None or (process := process_of(holder["client"])) is None:
            raise
        raise InProgressError(
            f"Another change of this document is taking too long: {process} holds it, "
            f"and has been silent since {holder['silent_since']:%Y-%m-%d %H:%M:%SZ}.",
            hint="Try again in a few seconds. If that process is stopped, the operator has to continue it.",
        ) from None
