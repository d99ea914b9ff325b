"""One round trip of a writer: a connection used as a pipeline, and the errors of the server in its terms."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from garden.events.database import DatabaseUnavailableError
from garden.events.idempotency import InProgressError
from garden.events.pool import PooledConnection
from garden.events.saga import StaleStateError


class AnswerLostError(DatabaseUnavailableError):
    """The connection was lost before the database said whether a statement was recorded."""


@contextmanager
def pipelined(connection: PooledConnection) -> Iterator[PooledConnection]:
    """Use a connection as a pipeline, and close it after an error that is no answer of the server.

    Answers might be left on their way, and be taken for those of the next statement.
    """
    try:
        with connection.pipeline():
            yield connection
    except psycopg.Error as error:
        if error.sqlstate is None:
            connection.close()
        raise


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
def report_conflict(what: str) -> Iterator[None]:
    """Turn conflicts with another process into errors that say so."""
    try:
        yield
    except errors.SerializationFailure:
        raise StaleStateError(
            f"{what} is no longer as it was: another process has moved it on.", hint="Read the event again."
        ) from None
    except errors.UniqueViolation as violation:
        if violation.diag.constraint_name == "idempotency_records_pkey":
            raise InProgressError(
                "A request with the same idempotency key is still running.",
                hint="Send it again in a moment to have its answer.",
            ) from None
        raise StaleStateError(
            "The document's lock was lost while it was being changed.", hint="Nothing was written; try again."
        ) from None
