"""Archives: one user's garden in one file, with its history and account, for another home or another time.

    README.txt                          what is in it, and what is left out
    files/...                           the documents, as below `users/{userId}/`
    history/...                         copies of earlier versions, as below `history/{userId}/`
    events.jsonl                        events and annotations, stream by stream, with every column
    heads.jsonl, feed.jsonl             the document heads, and the order in which events were settled
    erasures.jsonl                      tombstones, what they sealed, and fingerprints of erased words
    proofs/..., keys.txt                proofs that the home's signed log holds the events; its public keys
    MANIFEST.json                       version, user, counts, and the size and SHA-256 of every other member

It is made at one moment of the account: what another process writes meanwhile is not in it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from garden.events.accounts import account_rows, line_of
from garden.events.records import Head
from garden.events.rows import head_of
from garden.events.snapshots import ReaderSnapshot
from garden.files.errors import FileError, FileExistsAlreadyError, FileMissingError, translate_os_errors
from garden.files.paths import GardenPath, Place
from garden.grammar.canonical import encoded, raw_hash
from garden.grammar.errors import GardenError
from garden.home.state_files import sync_folder
from garden.transfer.archive_file import ArchiveWriter, Spool, spool
from garden.transfer.archive_proofs import write_proofs
from garden.transfer.files import new_file
from garden.writing.services import Services

FORMAT = "memory-garden archive"
VERSION = 1
EVENTS, HEADS, FEED, ERASURES = "events.jsonl", "heads.jsonl", "feed.jsonl", "erasures.jsonl"
TABLES_OF = {
    EVENTS: ("event", "annotation"),
    HEADS: ("head",),
    FEED: ("feed",),
    ERASURES: ("erasure", "erased_row", "erased_word"),
}
"""The tables in each member of the account."""

LEFT_OUT = (
    "access tokens, stored answers, rows of recall, the integrity keys, and files that are no documents"
)
MISSING = "missing on disk, taken from the events"
OUTSIDE = "edited outside the tools since its last event"
UNKNOWN = "on disk and not in the account"
UNREADABLE = "can't be read, left out"
_README = f"""An archive of one user's garden, made by Memory Garden.

files/ holds the documents and history/ their earlier versions: plain Markdown for any editor.
events.jsonl holds every recorded change, one a line, with the words and with the salted commitments that the
chain of events covers; heads.jsonl, feed.jsonl and erasures.jsonl complete the account. Bytes are base64.
proofs/ shows that the signed transparency log of the home holds every settled event; keys.txt has the public
keys of that log. MANIFEST.json has the size and SHA-256 of every other file, and names the documents that
differ from the account.

Left out: {LEFT_OUT}.

Verify it anywhere, without a database: garden verify ARCHIVE. Take it in elsewhere: garden import ARCHIVE.
"""


class UnsettledError(GardenError):
    """Something in the garden has not come to its end."""

    code: ClassVar[str] = "in_progress"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} has not come to its end.", hint="Try again in a moment, or run 'garden reconcile' first."
        )


@dataclass
class ArchiveContent:
    """What went into an archive; `exceptions` are the paths that differ from the account.

    `entries` counts those of the feed: each event and annotation has one.
    """

    user: str
    events: int = 0
    entries: int = 0
    documents: int = 0
    copies: int = 0
    exceptions: dict[str, str] = field(default_factory=dict)

    @property
    def manifest(self) -> dict[str, object]:
        """What the manifest says about it."""
        counts = {"events": self.events, "documents": self.documents, "copies": self.copies}
        about = {"format": FORMAT, "version": VERSION, "user": self.user}
        return {**about, "counts": counts, "exceptions": self.exceptions}


def write_archive(services: Services, user: str, target: Path) -> ArchiveContent:
    """Write a user's garden into a new file; the same garden gives the same bytes."""
    content = ArchiveContent(user)
    services.store.number_rest(user)
    with translate_os_errors():
        try:
            with new_file(target) as file:
                writer = ArchiveWriter(file)
                writer.add("README.txt", [_README.encode()])
                # The database ends a transaction that stands idle, as it would while this compresses.
                with services.reader.snapshot(user) as snapshot:
                    heads, account = _read_account(snapshot, content)
                for name, rows in account.items():
                    writer.put(name, rows)
                _write_files(writer, services, heads, content)
                write_proofs(writer, services, user, content.entries)
                writer.close(content.manifest)
        except FileExistsError:
            raise FileExistsAlreadyError from None
        sync_folder(target.parent)
    return content


def member_of(path: GardenPath) -> str:
    """The name of a document or copy in an archive."""
    below = path.text.split("/", 2)[2]
    return f"history/{below}" if path.place is Place.HISTORY_COPY else f"files/{below}"


def path_of(user: str, member: str) -> GardenPath:
    """The path of a member below files/ or history/."""
    root, _, below = member.partition("/")
    return GardenPath(f"{'users' if root == 'files' else 'history'}/{user}/{below}")


def _read_account(
    snapshot: ReaderSnapshot, content: ArchiveContent
) -> tuple[dict[str, Head], dict[str, Spool]]:
    heads, counts = snapshot.fetch("heads", {}), Counter[str]()
    for each in heads:
        if each["open_event_id"] is not None:
            raise UnsettledError(f"A change of {each['path']}")
    if any(each["finished_at"] is None for each in snapshot.fetch("erasures", {})):
        raise UnsettledError("An erasure")

    def lines(tables: Iterable[str]) -> Iterator[bytes]:
        for table, row in account_rows(snapshot, tables):
            counts[table] += 1
            yield line_of(table, row)

    account = {name: spool(lines(tables)) for name, tables in TABLES_OF.items()}
    content.events, content.entries = counts["event"], counts["feed"]
    if content.entries != counts["event"] + counts["annotation"]:
        raise UnsettledError("The numbering of a change")
    return {each["path"]: head_of(each) for each in heads}, account


def _write_files(
    writer: ArchiveWriter, services: Services, heads: Mapping[str, Head], content: ArchiveContent
) -> None:
    recorded = {path for path, head in heads.items() if head.has_file}
    found = {path.text for path in services.files.documents(GardenPath(f"users/{content.user}"))}
    for text in sorted(recorded | found):
        path = GardenPath(text)
        document, why = _read_document(services, path, heads.get(text))
        if why is not None:
            content.exceptions[text] = why
        if document is not None:
            content.documents += 1
            writer.add(member_of(path), [document])
    for path in services.files.documents(GardenPath(f"history/{content.user}")):
        try:
            copy = services.files.content(path)
        except FileError:
            content.exceptions[path.text] = UNREADABLE
        else:
            content.copies += 1
            writer.add(member_of(path), [copy])


def _read_document(
    services: Services, path: GardenPath, head: Head | None
) -> tuple[bytes | None, str | None]:
    """A document's bytes, or those that the events hold, and how it differs from the account."""
    document: bytes | None = None
    why: str | None = MISSING
    try:
        document = services.files.content(path)
    except FileMissingError:
        pass
    except FileError:
        why = UNREADABLE
    has_file = head is not None and head.has_file
    if document is not None and head is not None and has_file and raw_hash(document) == head.raw_hash:
        return document, None
    if _has_changed(services, path, head):
        # Another process has written since the account was read, and the archive shows that moment.
        why = None
    elif document is not None:
        return document, OUTSIDE if has_file else UNKNOWN
    if head is None or not has_file:
        return None, why
    text = encoded(services.reader.text_at(path.user_id, path.text, head.version))
    if raw_hash(text) != head.raw_hash:
        raise UnsettledError(f"A change of {path}")
    return text, why and MISSING


def _has_changed(services: Services, path: GardenPath, head: Head | None) -> bool:
    now = services.reader.head(path.user_id, path.text) or Head()
    return now.tail_sequence != (head or Head()).tail_sequence
