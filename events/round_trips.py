"""The errors of one round trip of a writer, in its terms."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from garden.events.database import DatabaseUnavailableError
from garden.events.idempotency import InProgressError
from garden.events.pool import PooledConnection, translated
from garden.events.saga import StaleStateError


class AnswerLostError(DatabaseUnavailableError):
    """The connection was lost before the database said whether a statement was recorded."""


@contextmanager
def report_lost_answer() -> Iterator[None]:
    """Turn a lost connection into an error that says the statement may have been recorded."""
    try:
        yield
    except DatabaseUnavailableError:
        raise AnswerLostError(
            "The database went away before it said whether this was recorded.",
            hint="Send the same request again: it is recorded once, however often it is sent.",
        ) from None


@contextmanager
def in_one_transaction(connection: PooledConnection, what: str) -> Iterator[PooledConnection]:
    """Send several statements in one round trip and one transaction."""
    try:
        with connection.pipeline():
            yield connection
    except psycopg.Error as error:
        if error.sqlstate is None:
            connection.close()
        raise writers_error(error, what) from None


def writers_error(error: Exception, what: str) -> Exception:
    """The error for the writer of `what`; a conflict with another process says so."""
    match error:
        case errors.SerializationFailure():
            return StaleStateError(
                f"{what} is no longer as it was: another process has moved it on.",
                hint="Read the event again.",
            )
        case errors.UniqueViolation() if error.diag.constraint_name == "idempotency_records_pkey":
            return InProgressError(
                "A request with the same idempotency key is still running.",
                hint="Send it again in a moment to have its answer.",
            )
        case errors.UniqueViolation():
            return StaleStateError(
                "The document's lock was lost while it was being changed.",
                hint="Nothing was written; try again.",
            )
    return translated(error)
