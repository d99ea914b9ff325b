"""The text of any version, rebuilt from the last kept text before it and the changes since."""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from garden.events.rows import Row
from garden.events.snapshots import ReaderSnapshot
from garden.grammar.canonical import raw_hash
from garden.grammar.errors import GardenError
from garden.grammar.line_changes import ByteSplice, splice_bytes
from garden.grammar.refusals import PatchConflictError

VERSION_MAX = 2**31 - 1
KEPT_VERSIONS_MAX = 200
"""A text is kept when so many versions came since the last one, or more bytes of changes than it has."""
_FILE = "versions"


class ChangedEventsError(GardenError):
    """The events of a document do not lead to the text that they name."""

    code: ClassVar[str] = "unavailable"

    def __init__(self, path: str, version: int) -> None:
        super().__init__(
            f"The events of {path} were changed: they do not give the text that version {version} had.",
            hint="Run 'garden verify', which names the first wrong event, and compare with a backup.",
            details={"path": path, "version": version},
        )


class Step(NamedTuple):
    """A change of a document: its event's row, and its splices."""

    row: Row
    splices: list[ByteSplice]


class VersionTexts:
    """The texts of one document's versions at one moment; ascending ones are cheap.

    `data` is the text of the version `reached`.
    """

    def __init__(self, snapshot: ReaderSnapshot, path: str) -> None:
        self._snapshot = snapshot
        self._path = path
        self.data = bytearray()
        self.reached = 0

    def at(self, version: int) -> bytearray:
        """The text of a version; `reached` is lower if there is no such version."""
        if version < self.reached or version - self.reached > KEPT_VERSIONS_MAX:
            self.reached, self.data = self._kept(version)
        for _ in self._steps(version):
            pass
        return self.data

    def go_to_last_kept(self) -> int:
        """Go to the newest kept text; returns its version."""
        self.reached, self.data = self._kept(VERSION_MAX)
        return self.reached

    def steps(self, first: int, last: int) -> Iterator[Step]:
        """The changes that left these versions; `data` is the text before each of them."""
        self.at(first - 1)
        yield from self._steps(last)

    def _steps(self, version: int) -> Iterator[Step]:
        values = {"path": self._path, "above": self.reached, "version": version}
        left = version - self.reached
        row: Row | None = None
        for row in self._snapshot.rows("changes", values, after=self.reached, file=_FILE, limit=left):
            try:
                splices = splices_in(row, self.data)
            except PatchConflictError:
                raise ChangedEventsError(self._path, row["document_version"]) from None
            yield Step(row, splices)
            splice_bytes(self.data, splices)
            self.reached = row["document_version"]
        if row is not None and raw_hash(self.data) != row["hash"]:
            raise ChangedEventsError(self._path, self.reached)

    def _kept(self, version: int) -> tuple[int, bytearray]:
        """The newest kept text up to a version, and its number; its hash must be that of the event."""
        while rows := self._snapshot.fetch("kept", {"path": self._path, "version": version}, _FILE):
            if raw_hash(rows[0]["text"]) == rows[0]["hash"]:
                return rows[0]["version"], bytearray(rows[0]["text"])
            version = rows[0]["version"] - 1
        return 0, bytearray()


def splices_in(row: Row, data: bytearray) -> list[ByteSplice]:
    """The splices of an event's row; refuse them if a removed text is not at its offset."""
    columns = row["splice_offsets"], row["splices_removed"], row["splices_inserted"]
    reached = 0
    try:
        splices = list(zip(*columns, strict=True))
        if None in columns[2]:
            raise ValueError
        for offset, removed, _ in splices:
            end = offset + len(removed)
            if not reached <= offset <= len(data) or data[offset:end] != removed:
                raise ValueError
            reached = end
    except (TypeError, ValueError):
        # An intruder can leave columns that are empty or do not fit each other, too.
        raise PatchConflictError(
            "The text that a splice removes is not at its place.",
            hint="It belongs to another version of this text.",
        ) from None
    return splices
