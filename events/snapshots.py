"""One user's rows at one moment."""

from collections.abc import Iterator, Mapping
from heapq import merge
from operator import itemgetter
from typing import Any
from uuid import UUID

from garden.events.pool import PooledConnection
from garden.events.records import JOURNAL
from garden.events.rows import Row
from garden.events.statements import statements

_BATCH_ROWS = 500


class ReaderSnapshot:
    """One user's rows at one moment."""

    def __init__(self, connection: PooledConnection, user_id: str) -> None:
        self.user_id = user_id
        self._connection = connection

    def fetch(self, name: str, values: Mapping[str, Any], file: str = "queries") -> list[dict[str, Any]]:
        """Read a short result."""
        return self._connection.execute(
            statements(file)[name], {**values, "user_id": self.user_id}, prepare=True
        ).fetchall()

    def rows(
        self,
        name: str,
        values: Mapping[str, Any],
        after: int = 0,
        *,
        file: str = "queries",
        limit: int | None = None,
    ) -> Iterator[Row]:
        """Read a long result in the order of its sequence, in batches, from after a sequence."""
        return self._batches(name, values, "sequence", after, file, limit)

    def stream_rows(self, stream: str, after: int = 0) -> Iterator[Row]:
        """Read a stream's events, and in the journal its annotations too, from after a sequence."""
        events = self.rows("chain", {"stream": stream}, after)
        if stream != JOURNAL:
            return events
        return merge(events, self.rows("annotation_chain", {}, after), key=itemgetter("sequence"))

    def rows_by(self, name: str, key: str, *, first: object = "") -> Iterator[Row]:
        """Read a long result in the order of a column, in batches; `first` comes before all of its values."""
        return self._batches(name, {}, key, first)

    def views(self) -> Iterator[dict[str, Any]]:
        """Every event of the user as it is on the wire, oldest first."""
        from garden.events.views import event_views

        for row in self._batches("oldest_after_as_views", {}, "event_id", UUID(int=0)):
            yield from event_views([tuple(row.values())])

    def act_as_service(self) -> None:
        """Read on with the service's rights, which include stored requests and tokens."""
        self._connection.execute(statements("identities")["service_again"])

    def _batches(
        self,
        name: str,
        values: Mapping[str, Any],
        key: str,
        first: object,
        file: str = "queries",
        limit: int | None = None,
    ) -> Iterator[Row]:
        after, left = first, limit
        while left is None or left > 0:
            size = _BATCH_ROWS if left is None else min(left, _BATCH_ROWS)
            batch = self.fetch(name, {**values, "after": after, "limit": size}, file)
            yield from batch
            if len(batch) < size:
                return
            after, left = batch[-1][key], None if left is None else left - size
