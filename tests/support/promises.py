"""The promises that hold between any two calls, and a check that names the broken ones."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from garden.application import Garden
from garden.events.payloads import payload_json
from garden.events.records import Event
from garden.events.rows import event_of
from garden.events.saga import Status
from garden.events.snapshots import ReaderSnapshot
from garden.files.paths import GardenPath
from garden.grammar.canonical import encoded, raw_hash
from garden.grammar.splice import apply_splices
from garden.history.faults import Part
from garden.history.verification import verify_user
from garden.writing.departures import EMPTY_HASH
from garden.writing.documents import GardenDocument
from garden.writing.planner import keeps_copy
from tests.support.recalled import wrong_passages

ADOPTED = "external_edit"


@dataclass
class Told:
    """The events of one document."""

    path: GardenPath
    events: list[Event]
    texts: dict[int, str] = field(default_factory=lambda: {0: ""})

    @property
    def committed(self) -> list[Event]:
        return [event for event in self.events if event.status is Status.COMMITTED]

    @property
    def text(self) -> str:
        return self.texts[len(self.texts) - 1]

    def replay(self) -> "Told":
        for event in self.committed:
            assert event.splices is not None
            assert event.document_version == len(self.texts)
            self.texts[event.document_version] = apply_splices(self.text, event.splices)
        return self

    def copies(self) -> dict[str, str]:
        """The copies that must exist: the text that each edit replaced."""
        return {
            self.path.copy_of(event.created_at, event.event_id).text: self.texts[version - 1]
            for event in self.committed
            if (version := event.document_version) is not None
            and event.statement.type != ADOPTED
            and event.before_raw_hash not in {None, EMPTY_HASH}
            and keeps_copy(self.path, event.statement.op)
        }

    def copies_in_doubt(self) -> dict[str, str]:
        """The copies that may exist: the text that a failed edit was to replace, or replaced late."""
        woken_up = {(payload_json(event.statement.edit) or {}).get("failedEvent") for event in self.events}
        return {
            self.path.copy_of(event.created_at, event.event_id).text: self.texts[version - 1]
            for event in self.events
            if event.error is not None
            and (event.error["code"] == "conflict" or str(event.event_id) in woken_up)
            and (version := event.document_version) is not None
        }


def inserted_by(event: Event) -> str:
    """The texts that an event's splices insert."""
    return "\n".join(splice.inserted for splice in event.splices or ())


def removed_by(event: Event) -> str:
    """The texts that an event's splices remove."""
    return "\n".join(splice.removed for splice in event.splices or ())


def told(garden: Garden, path: str, user_id: str = "ada") -> Told:
    """Read all events of a document."""
    with garden.services.reader.snapshot(user_id) as snapshot:
        return _told(snapshot, path)


def broken_promises(garden: Garden, user_id: str = "ada", *, spare_copies: bool = False) -> list[str]:
    """Name the broken promises; `spare_copies` allows history copies without an event."""
    # Files that no event has yet are no broken promise; those of known documents are compared below.
    faults = [each for each in verify_user(garden.services, user_id).faults if each.part is not Part.OUTSIDE]
    with garden.services.reader.snapshot(user_id) as snapshot:
        heads = {row["path"]: row for row in snapshot.fetch("heads", {})}
        journal = _events(snapshot, "") if "" in heads else []
        documents = [_told(snapshot, path).replay() for path in heads if path]
    wanted = {
        str((payload_json(event.statement.edit) or {})["historyPath"])
        for event in journal
        if _is_snapshot(event)
    }
    return [
        *(f"{fault.place}: {fault.message}" for fault in faults),
        *(f"{each.path}: an event is open" for each in documents if heads[each.path.text]["open_event_id"]),
        *(wrong for each in documents for wrong in _wrong_with_file(garden.home.path, each)),
        *(wrong for each in documents for wrong in _wrong_with_copies(garden.home.path, each)),
        *(wrong for path in heads if path for wrong in wrong_passages(garden, path)),
        *_strays(garden.home.path),
        *([] if spare_copies else _unknown_copies(garden.home.path, documents, wanted, user_id)),
    ]


def text_of(garden: Garden, path: str) -> str:
    return (garden.home.path / path).read_bytes().decode()


def standing_of(garden: Garden, path: str) -> GardenDocument:
    services = garden.services
    return services.documents.parse_file(GardenPath(path), services.files.read(GardenPath(path)))


def _told(snapshot: ReaderSnapshot, path: str) -> Told:
    return Told(GardenPath(path), _events(snapshot, path))


def _events(snapshot: ReaderSnapshot, stream: str) -> list[Event]:
    return [event_of(row) for row in snapshot.rows("chain", {"stream": stream})]


def _is_snapshot(event: Event) -> bool:
    return event.statement.type == "snapshot"


def _wrong_with_file(home: Path, document: Told) -> Iterator[str]:
    file = home / document.path.text
    if not file.exists():
        if document.text:
            yield f"{document.path}: the file is missing"
        return
    if file.read_bytes() != document.text.encode():
        yield f"{document.path}: the file is not the newest version of the account"
    # An erasure takes the hashes of versions with gaps, and of the version after the last of them.
    if document.committed[-1].intended_raw_hash not in {None, raw_hash(encoded(document.text))}:
        yield f"{document.path}: the newest event names another text"
    if file.stat().st_nlink != 1:
        yield f"{document.path}: the file has {file.stat().st_nlink} names"


def _wrong_with_copies(home: Path, document: Told) -> Iterator[str]:
    for copy, text in document.copies().items():
        if not (home / copy).exists():
            yield f"{copy}: the copy is missing"
        elif (home / copy).read_bytes() != text.encode():
            yield f"{copy}: the copy is not the version that was replaced"
    for copy, text in document.copies_in_doubt().items():
        if (home / copy).exists() and (home / copy).read_bytes() != text.encode():
            yield f"{copy}: the copy is not the version that was to be replaced"


def _strays(home: Path) -> Iterator[str]:
    for folder in ("users", "history"):
        yield from (f"{path.relative_to(home)}: a stray file" for path in (home / folder).rglob(".new-*"))


def _unknown_copies(home: Path, documents: list[Told], wanted: set[str], user_id: str) -> Iterator[str]:
    known = wanted.union(*(document.copies() | document.copies_in_doubt() for document in documents))
    for path in (home / "history" / user_id).rglob("*.md"):
        if path.is_file() and str(path.relative_to(home)) not in known:
            yield f"{path.relative_to(home)}: no event tells of this copy"
