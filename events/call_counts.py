"""The calls that rate limits have counted, over all processes and by the database's clock."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from garden.events.database import DatabaseUnavailableError
from garden.events.pool import Pool
from garden.events.statements import statements

_SHOWN_MAX = 50


class CallWindow(NamedTuple):
    """A limit: what its calls are counted under, its length, and the most calls in a time of that length."""

    name: str
    key: str
    seconds: int
    most: int


class CallCounts:
    """Counts the calls of users against windows."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def take(
        self, user_id: str, windows: Sequence[CallWindow], wanted: int, unused: int, slots: Sequence[int]
    ) -> Mapping[str, Any]:
        """Count up to `wanted` calls in all of these windows, or none; one round trip.

        `unused` calls that were taken in these slots are given back. The answer has the number `taken`, their
        `slots` and the time for which these last, or the window that is `exhausted` and when to come back.
        """
        _, keys, seconds, most = map(list, zip(*windows, strict=True))
        values: dict[str, Any] = {"user_id": user_id, "keys": keys, "windows": seconds, "most": most}
        values |= {"wanted": wanted, "unused": unused, "slots": list(slots)}
        try:
            return self._take(values)
        except DatabaseUnavailableError:
            self._pool.drop_idle_connections()
        # The first time it may have been counted all the same, so nothing is given back twice.
        return self._take({**values, "unused": 0})

    def in_use(self, user_id: str) -> list[Mapping[str, Any]]:
        """The `key`, the `seconds` and the `used` calls of a user's windows that let any pass lately."""
        return self._pool.fetch("service", "limits", "in_use", {"user_id": user_id, "limit": _SHOWN_MAX})

    def _take(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        with self._pool.connection() as connection, connection.pipeline():
            connection.execute(statements("identities")["service"], values, prepare=True)
            found = connection.execute(statements("limits")["take"], values, prepare=True)
        answer: Mapping[str, Any] = found.fetchall()[0]["answer"]
        return answer
