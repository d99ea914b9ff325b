"""The rows of recall: passages as they are sent to the database, and the rows that stand there."""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID

from garden.events.pool import Pool, PooledConnection
from garden.events.statements import statements


class PassageRow(NamedTuple):
    """A passage as it is stored; the order is that of `garden.passage_v1`.

    `passage` is a keyed hash of path, anchor and name, `previous` that of the passage above it in the same
    section. `was` is the passage that moved here from another place, with its event and day.
    `day` is the one that the text names, and then the passage `is_dated`, or else the day of the change.
    `words` holds four bytes a word.
    """

    passage: int
    path: str
    anchor: str
    name: str
    heading: str
    language: str
    previous: int | None
    day: date
    tags: tuple[str, ...]
    priority: int | None
    summary_type: str | None
    period_key: str | None
    text: str
    words: bytes
    was: int | None = None
    is_dated: bool = False


class PassageChanges(NamedTuple):
    """The passages that a change of a document removed, and those that it brought or gave another place."""

    path: str
    version: int
    analysis: int
    gone: tuple[int, ...]
    come: tuple[PassageRow, ...]


class StandingPassage(NamedTuple):
    """A passage with the event that its text came with, and the times from when until when it stood."""

    row: PassageRow
    event_id: UUID
    since: datetime
    until: datetime | None = None


class PassageStore:
    """The rows of recall for the maintainer; the caller holds the lock of a document that it replaces."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def replace_document(
        self, user_id: str, path: str, rows: Sequence[StandingPassage], version: int, analysis: int
    ) -> None:
        """Put these rows in the place of all of a document; those of the same text and time keep a vector."""
        values: dict[str, Any] = {"path": path, "version": version, "analysis": analysis}
        values["rows"] = _json([_columns(each) for each in rows])
        self._do(user_id, values, "remove_others", "put_rows", "put_document")

    def forget_user(self, user_id: str) -> None:
        """Remove everything that recall and the account of calls keep of a user."""
        self._do(user_id, {}, "forget_user")

    def forget_old_given(self, user_id: str) -> None:
        """Remove what was noted of context that a user's actors were given 90 days ago or earlier."""
        self._do(user_id, {}, "forget_old_given")

    def unindexed(self, user_id: str | None, analysis: int) -> dict[str, int]:
        """The newest versions of documents whose rows are not of it, or by older rules than these."""
        values = {"user_id": user_id, "analysis": analysis}
        found = self._pool.fetch("maintainer", "passages", "unindexed", values, prepare=False)
        return {row["path"]: row["version"] for row in found}

    def live_rows(self, user_id: str, path: str) -> list[StandingPassage]:
        """The rows of a document's present text."""
        values = {"user_id": user_id, "path": path}
        found = self._pool.fetch("maintainer_for_user", "passages", "live_rows", values)
        return [_standing(**row) for row in found]

    def _do(self, user_id: str, values: Mapping[str, Any], *names: str) -> None:
        values = {"user_id": user_id, **values}
        with self._pool.connection() as connection, connection.transaction():
            connection.execute(statements("identities")["maintainer_for_user"], values)
            for name in names:
                connection.execute(statements("passages")[name], values)


def forget_earlier(connection: PooledConnection, user_id: str, path: str) -> None:
    """Remove the rows of a document's earlier texts, in the transaction that takes words out of them."""
    for name in ("forget_earlier", "renew_document", "forget_given"):
        connection.execute(statements("passages")[name], {"user_id": user_id, "path": path})


def changes_json(changes: PassageChanges, at: datetime) -> str:
    """The changes by an event that began at this time, as JSON of `garden.passage_changes_v1`."""
    return _json({**changes._asdict(), "at": at, "come": [row._asdict() for row in changes.come]})


def _standing(event_id: UUID, since: datetime, tags: Sequence[str], **columns: Any) -> StandingPassage:
    return StandingPassage(PassageRow(tags=tuple(tags), **columns), event_id, since)


def _columns(passage: StandingPassage) -> dict[str, Any]:
    row, event_id, since, until = passage
    return {**row._asdict(), "event_id": event_id, "since": since, "until": until}


_json = json.JSONEncoder(default=lambda each: rf"\x{each.hex()}" if type(each) is bytes else str(each)).encode
