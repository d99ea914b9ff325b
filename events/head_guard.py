"""The guard of heads: what differs from a head is an outside edit only if the head itself can be trusted."""

from collections.abc import Callable
from typing import ClassVar

from garden.events.keyring import Keyring
from garden.events.reader import EventReader
from garden.events.records import Head
from garden.events.rows import HEAD_SEAL, head_row, seal_row
from garden.events.seals import head_holds
from garden.grammar.errors import GardenError

_HINT = (
    "Nothing was recorded. Keep the database as it is, run 'garden keys verify', and compare it with "
    "a backup."
)


class HeadNotTrustedError(GardenError):
    """A document's head was changed, or its newest events are gone."""

    code: ClassVar[str] = "unavailable"


class HeadGuard:
    """Compares heads with their seals and with the feed, which knows the events of every stream."""

    def __init__(self, reader: EventReader, keys: Callable[[], Keyring]) -> None:
        self._reader = reader
        self._keys = keys

    def check(self, user_id: str, path: str, head: Head) -> None:
        """Refuse a head that is not as it was sealed, or that knows fewer events than the feed.

        Otherwise the words of an agent whose events are gone would be recorded as a person's.
        """
        row = {**head_row(user_id, path, head), **seal_row(head.seal, HEAD_SEAL)}
        if head.tail_sequence and not head_holds(row, self._keys()):
            raise HeadNotTrustedError(
                "The event log's head of this document is not as the service sealed it.", hint=_HINT
            )
        numbered = self._reader.newest_number(user_id, path)
        if numbered > head.tail_sequence:
            raise HeadNotTrustedError(
                f"Newer events of this document are gone: the feed knows {numbered}, and its head "
                f"{head.tail_sequence}.",
                hint=_HINT,
            )
