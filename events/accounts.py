"""A user's whole account: every row, read for an archive and taken over from one."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, ClassVar
from uuid import UUID

from psycopg import errors

from garden.events.keyring import Keyring
from garden.events.pool import NotRecordableError, Pool, PooledConnection
from garden.events.records import JOURNAL
from garden.events.rows import ANNOTATION_COLUMNS, EVENT_COLUMNS, HEAD_COLUMNS, Row, parameters
from garden.events.saga import Status
from garden.events.snapshots import ReaderSnapshot
from garden.events.statements import statements
from garden.grammar.errors import GardenError

TABLES: Mapping[str, tuple[str, ...]] = {
    "event": EVENT_COLUMNS,
    "annotation": ANNOTATION_COLUMNS,
    "head": HEAD_COLUMNS,
    "feed": ("user_id", "position", "event_id", "what", "stream", "sequence"),
    "erasure": (
        *("user_id", "erasure_id", "kind", "path", "reason", "actor", "role", "created_at", "finished_at"),
        *("events", "bytes", "seal", "seal_salt_version"),
    ),
    "erased_row": (
        *("user_id", "row_id", "erasure_id", "commitments", "version_hash", "seal", "seal_salt_version"),
    ),
    "erased_word": ("user_id", "fingerprint", "words", "erasure_id", "salt_version"),
}
"""The tables of an account, each with the columns of its rows."""

AccountRow = tuple[str, Row]
"""The name of a table, and a row of it."""

# The service adds what it records itself; the rest is the maintainer's.
_OF_SERVICE = {"event", "annotation", "head", "feed"}
_BYTES = {
    *("salts", "commitments", "chain_hash", "state_seal", "line_hash"),
    *("tail_chain_hash", "seal", "fingerprint"),
}
_BYTE_LISTS = {"splices_removed", "splices_inserted"}
_TIMES = {"created_at", "written_at", "committed_at", "failed_at", "finished_at", "updated_at"}
_IDS = {"event_id", "annotation_id", "erasure_id", "row_id", "head_event_id", "open_event_id"}


class AccountExistsError(GardenError):
    """The user has events here already."""

    code: ClassVar[str] = "already_exists"

    def __init__(self, user_id: str) -> None:
        super().__init__(
            f"There are events of {user_id} here already, and they are not those of the archive.",
            hint="An archive is imported where its user is unknown, as in a new home.",
        )


def account_rows(snapshot: ReaderSnapshot, tables: Iterable[str]) -> Iterator[AccountRow]:
    """The rows of some tables, in an order that is always the same.

    Events and annotations come stream by stream, the journal last: an annotation comes after its event.
    """
    for table in tables:
        if table == "event":
            yield from _chained_rows(snapshot)
        elif table != "annotation":
            yield from (
                (table, {name: row[name] for name in TABLES[table]}) for row in _rows(snapshot, table)
            )


def _chained_rows(snapshot: ReaderSnapshot) -> Iterator[AccountRow]:
    streams = [row["path"] for row in snapshot.fetch("streams", {})]
    for stream in sorted(streams, key=lambda name: (name == JOURNAL, name)):
        for row in snapshot.stream_rows(stream):
            yield "annotation" if "annotation_id" in row else "event", row


def _rows(snapshot: ReaderSnapshot, table: str) -> Iterable[Row]:
    if table == "feed":
        return snapshot.rows_by("whole_feed", "position", first=0)
    if table == "erased_word":
        return snapshot.rows_by("whole_erased_words", "fingerprint", first=b"")
    return sorted(snapshot.fetch(f"{table}s", {}), key=itemgetter(TABLES[table][1]))


def line_of(table: str, row: Row) -> bytes:
    """A row as one line of JSON, without empty columns; bytes are base64."""
    values = {name: _plain(name, value) for name, value in row.items() if value is not None}
    return json.dumps({"row": table, **values}, ensure_ascii=True, sort_keys=True).encode() + b"\n"


def row_of(line: bytes) -> AccountRow:
    """The row of a line; raises ValueError for a line that no row has."""
    values: dict[str, Any] = dict(json.loads(line))
    table = values.pop("row", None)
    if table not in TABLES or not values.keys() <= set(TABLES[table]):
        raise ValueError("it has a column that this version does not know")
    return table, {name: _stored(name, values.get(name)) for name in TABLES[table]}


class Accounts:
    """Takes over accounts."""

    def __init__(self, pool: Pool, keys: Callable[[], Keyring]) -> None:
        self._pool = pool
        self.keys = keys

    def take_over(self, user_id: str, rows: Iterable[AccountRow]) -> None:
        """Add every row of a user without any, in one durable transaction."""
        try:
            with self._pool.connection() as connection, connection.transaction():
                connection.execute(statements("identities")["service"], {"user_id": user_id})
                with connection.pipeline():
                    self._add(connection, user_id, rows)
        except errors.UniqueViolation:
            raise AccountExistsError(user_id) from None
        except errors.ForeignKeyViolation:
            raise NotRecordableError(
                "An annotation is about an event that the account does not have.", hint="Export it again."
            ) from None

    def _add(self, connection: PooledConnection, user_id: str, rows: Iterable[AccountRow]) -> None:
        sql, is_service = statements("accounts"), True
        for table, row in rows:
            if is_service and table not in _OF_SERVICE:
                is_service = False
                connection.execute(statements("identities")["maintainer_for_user"], {"user_id": user_id})
            values = parameters(row)
            has_failed = table == "event" and row["status"] == Status.FAILED
            first = {"status": Status.PENDING, "error": None, "failed_at": None} if has_failed else {}
            connection.execute(sql[f"add_{table}"], values | first)
            if has_failed:
                connection.execute(sql["fail_event"], values)
            if table == "head" and row["version"] > 1:
                # A job keeps whole texts of its versions, as far as they are due.
                connection.execute(statements("kept_texts")["mark"], values)


def _plain(name: str, value: Any) -> Any:
    if name in _BYTES:
        return base64.b64encode(value).decode()
    if name in _BYTE_LISTS:
        return [base64.b64encode(each).decode() for each in value]
    if name in _TIMES:
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    return str(value) if name in _IDS else value


def _stored(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _BYTES:
        return base64.b64decode(value, validate=True)
    if name in _BYTE_LISTS:
        return [base64.b64decode(each, validate=True) for each in value]
    if name in _TIMES:
        return datetime.fromisoformat(value).astimezone(UTC)
    return UUID(value) if name in _IDS else value
