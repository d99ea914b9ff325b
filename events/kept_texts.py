"""Whole texts of some versions, kept so that any version is rebuilt from few changes; for the maintainer."""

from typing import Any, NamedTuple

from garden.events.pool import Pool, PooledConnection
from garden.events.statements import statements
from garden.grammar.canonical import raw_hash

_FILE = "kept_texts"


class KeptText(NamedTuple):
    """The text of a version."""

    version: int
    text: bytes


class KeptTexts:
    """Stores whole texts; the caller holds the lock of the document, as an erasure does."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def marked(self, limit: int) -> list[tuple[str, str]]:
        """Users and paths of documents that may have come to the next version to keep."""
        found = self._pool.fetch("maintainer", _FILE, "marked", {"limit": limit}, prepare=False)
        return [(row["user_id"], row["path"]) for row in found]

    def keep(self, user_id: str, path: str, after: int, texts: list[KeptText], *, is_all: bool) -> None:
        """Store texts of versions after this one if they are what their events say, in place of all there.

        If that is all, the mark is taken off the document.
        """
        values: dict[str, Any] = {"user_id": user_id, "path": path, "version": after}
        with self._pool.connection() as connection, connection.transaction():
            connection.execute(statements("identities")["maintainer_for_user"], values)
            connection.execute(statements(_FILE)["forget"], values)
            for version, text in texts:
                given = {**values, "version": version, "text": text, "hash": raw_hash(text)}
                connection.execute(statements(_FILE)["keep"], given)
            if is_all:
                connection.execute(statements(_FILE)["unmark"], values)


def forget_kept_texts(connection: PooledConnection, user_id: str, path: str, *, for_good: bool) -> None:
    """Remove a document's texts in the transaction that takes words out of it; later they are made again."""
    for name in ("forget", "unmark" if for_good else "mark"):
        connection.execute(statements(_FILE)[name], {"user_id": user_id, "path": path, "version": 0})
