"""Checks an archive by itself, without a home, a database or the integrity keys.

Every checksum, the order of every chain, every text rebuilt from its changes, the words against their salted
commitments, the files and copies against those texts, the proofs against the signed checkpoint. The seals are
keyed: only a home with their keys can check those.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from garden.events.accounts import AccountRow, row_of
from garden.events.resealing import follow_unsealed, stream_of
from garden.events.row_checks import FaultFoundError, Tail
from garden.events.rows import Row
from garden.events.seals import leaf_entry
from garden.files.errors import FileError
from garden.files.paths import GardenPath, PathNotAllowedError, is_id
from garden.files.plain_files import SIZE_MAX_BYTES, check_content
from garden.grammar.canonical import raw_hash
from garden.history.merkle import leaf_hash
from garden.history.notes import VerifierKey
from garden.transfer.archive_file import MANIFEST, Archive, ArchiveError, read_archive
from garden.transfer.archive_proofs import MEMBERS, check_proofs
from garden.transfer.archives import (
    ERASURES,
    EVENTS,
    FEED,
    FORMAT,
    HEADS,
    OUTSIDE,
    TABLES_OF,
    UNKNOWN,
    VERSION,
    path_of,
)

NO_KEYS = "The seals of its events are keyed, and can be checked only where their keys are."
_FOLDERS = ("files/", "history/")
_PLAIN = {"README.txt", MANIFEST, *MEMBERS}
_HEAD = (
    *(
        "tail_sequence",
        "tail_chain_hash",
        "version",
        "head_event_id",
        "raw_hash",
        "open_event_id",
        "has_file",
    ),
)
_MALFORMED = (
    PathNotAllowedError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


@dataclass
class ArchiveVerdict:
    """What a check of an archive found: faults, notes on what is no fault, and how far its proofs reach."""

    user: str = ""
    events: int = 0
    documents: int = 0
    copies: int = 0
    proven: int = 0
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    proofs: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether everything that can be checked is right."""
        return not self.faults


def check_archive(path: Path, keys: Sequence[VerifierKey] = ()) -> ArchiveVerdict:
    """Check an archive; `keys` are public keys of the log that the reader trusts."""
    try:
        with read_archive(path) as archive:
            return check_unpacked(archive, keys)
    except ArchiveError as error:
        return ArchiveVerdict(faults=[error.why])


def check_unpacked(archive: Archive, keys: Sequence[VerifierKey] = ()) -> ArchiveVerdict:
    """Check an archive that was read; the first fault of each stream and every wrong file is named."""
    verdict = ArchiveVerdict()
    try:
        verdict.user = _user_of(archive)
        _Check(archive, verdict).run(keys)
    except ArchiveError as error:
        verdict.faults.append(error.why)
    return verdict


def rows_in(archive: Archive, *names: str) -> Iterator[AccountRow]:
    """The rows of an archive's account, all of its own user."""
    for name in names or TABLES_OF:
        for number, line in enumerate(archive.lines(name), start=1):
            try:
                table, row = row_of(line)
                is_own = table in TABLES_OF[name] and row["user_id"] == archive.manifest["user"]
            except _MALFORMED:
                is_own = False
            if not is_own:
                raise ArchiveError(f"line {number} of {name} is no row of this account")
            yield table, row


def tombstones_in(archive: Archive) -> dict[UUID, Row]:
    """The sealed remains of erased rows, by the id of the event or annotation."""
    return {row["row_id"]: row for table, row in rows_in(archive, ERASURES) if table == "erased_row"}


def files_in_archive(archive: Archive) -> list[tuple[str, GardenPath]]:
    """The documents and copies of an archive: the member and the path of each, sorted."""
    user = archive.manifest["user"]
    named = (each for each in archive.members if each.startswith(_FOLDERS))
    try:
        return [(each, path_of(user, each)) for each in sorted(named)]
    except PathNotAllowedError:
        raise ArchiveError("it holds a file that is no document and no copy of one") from None


def _user_of(archive: Archive) -> str:
    said = archive.manifest
    if said.get("format") != FORMAT or said.get("version") != VERSION:
        raise ArchiveError(f"it is not of the format {FORMAT!r}, version {VERSION}")
    user, exceptions = said.get("user"), said.get("exceptions")
    if not isinstance(user, str) or not is_id(user) or not isinstance(exceptions, dict):
        raise ArchiveError("its manifest names no user")
    for name in archive.members:
        if name not in _PLAIN and name not in TABLES_OF and not name.startswith(_FOLDERS):
            raise ArchiveError(f"it holds {name!r}, which no export writes")
    return user


class _Check:
    """One check of one archive."""

    def __init__(self, archive: Archive, verdict: ArchiveVerdict) -> None:
        self._archive = archive
        self._verdict = verdict
        self._files = files_in_archive(archive)
        self._tombstones = tombstones_in(archive)
        self._tails: dict[str, Tail] = defaultdict(partial(Tail, self._tombstones))
        self._settled: dict[tuple[str, int], tuple[UUID, str, bytes]] = {}
        self._leaves: list[bytes] = []
        # The hash of the version before each event that a copy is named after, and the hashes of snapshots.
        self._copied = {_copy_key(path): "" for _, path in self._files if path.text.startswith("history/")}
        self._versions: dict[str, set[str]] = defaultdict(set)

    def run(self, keys: Sequence[VerifierKey]) -> None:
        """Check everything, in the order in which one thing needs another."""
        self._guard("an event", self._check_events)
        self._guard("a head", self._check_heads)
        self._guard("an erasure", self._check_erasures)
        self._guard("the feed", self._check_feed)
        self._check_files()
        self._guard("a proof", lambda: self._check_proofs(keys))
        said = self._archive.manifest["exceptions"]
        self._verdict.notes += [f"{path}: {why}." for path, why in sorted(said.items())]

    def _guard(self, what: str, check: Callable[[], None]) -> None:
        try:
            check()
        except ArchiveError as error:
            self._verdict.faults.append(error.why)
        except _MALFORMED:
            self._verdict.faults.append(f"{what} has values of a wrong form")

    def _check_events(self) -> None:
        broken = set[str]()
        for table, row in rows_in(self._archive, EVENTS):
            self._verdict.events += table == "event"
            stream = stream_of(row)
            if stream not in broken:
                try:
                    self._follow(row, self._tails[stream])
                except FaultFoundError as fault:
                    broken.add(stream)
                    named = row.get("annotation_id") or row["event_id"]
                    self._verdict.faults.append(f"{stream or 'the journal'}, event {named}: {fault}")

    def _follow(self, row: Row, tail: Tail) -> None:
        stream, key = stream_of(row), (row.get("path"), str(row["event_id"]))
        if key in self._copied:
            edit: Any = row["edit"] or {}
            self._copied[key] = edit.get("rawHash") or tail.raw_hash or "erased"
        follow_unsealed(row, tail)
        leaf = leaf_hash(leaf_entry(row))
        self._settled[stream, tail.sequence] = row["event_id"], row.get("status", "annotated"), leaf
        if stream and tail.raw_hash:
            self._versions[stream].add(tail.raw_hash)

    def _check_heads(self) -> None:
        heads = {row["path"]: row for _, row in rows_in(self._archive, HEADS)}
        for name in sorted(heads.keys() | self._tails.keys()):
            tail, head = self._tails[name], heads.get(name)
            known = (tail.sequence, tail.chain, tail.version, tail.head_event_id, tail.raw_hash, None)
            if head is None or tuple(head[each] for each in _HEAD) != (*known, _has_file(tail)):
                self._verdict.faults.append(f"{name or 'the journal'}: its events do not lead to its head")
            if name and GardenPath(name).user_id != self._verdict.user:
                self._verdict.faults.append(f"{name} is a document of another user")

    def _check_erasures(self) -> None:
        rows = [row for table, row in rows_in(self._archive, ERASURES) if table == "erasure"]
        ended = {row["erasure_id"] for row in rows if row["finished_at"] and row["events"] is not None}
        named = {row["erasure_id"] for row in [*rows, *self._tombstones.values()]}
        if named != ended:
            self._verdict.faults.append("an erasure is missing, or has not come to its end")

    def _check_feed(self) -> None:
        for place, (_, row) in enumerate(rows_in(self._archive, FEED), start=1):
            # An entry taken twice would hide an event that has none.
            found = self._settled.pop((row["stream"], row["sequence"]), None)
            if found is None or found[:-1] != (row["event_id"], row["what"]) or row["position"] != place:
                raise ArchiveError(f"entry {place} of the feed does not fit the events")
            self._leaves.append(found[-1])
        if self._settled:
            raise ArchiveError(f"the feed lacks {len(self._settled)} of the events")

    def _check_proofs(self, keys: Sequence[VerifierKey]) -> None:
        self._verdict.proven, note = check_proofs(self._archive, self._leaves, keys)
        self._verdict.proofs = [note, NO_KEYS]

    def _check_files(self) -> None:
        for member, path in self._files:
            if self._archive.members[member].size > SIZE_MAX_BYTES:
                self._verdict.faults.append(f"{path} is larger than a document can be")
                continue
            content = self._archive.read(member)
            try:
                check_content(content)
            except FileError as error:
                self._verdict.faults.append(f"{path}: {error.message}")
            check = self._check_copy if member.startswith("history/") else self._check_document
            check(path, raw_hash(content))
        recorded = {name for name, tail in self._tails.items() if _has_file(tail)}
        missing = recorded - {path.text for _, path in self._files}
        self._verdict.faults += [f"{name} is missing" for name in sorted(missing)]

    def _check_document(self, path: GardenPath, content_hash: str) -> None:
        self._verdict.documents += 1
        tail, said = self._tails[path.text], self._archive.manifest["exceptions"].get(path.text)
        is_recorded = _has_file(tail) and tail.raw_hash == content_hash
        if not is_recorded and said not in (OUTSIDE, UNKNOWN):
            self._verdict.faults.append(f"{path} is not what its events say")

    def _check_copy(self, path: GardenPath, content_hash: str) -> None:
        self._verdict.copies += 1
        expected = self._copied[_copy_key(path)]
        if not expected:
            self._verdict.notes.append(f"{path}: no event tells of this copy.")
        # The hash in a snapshot's event may be erased; then the copy is one of the document's versions.
        elif content_hash != expected and not (
            expected == "erased" and content_hash in self._versions.get(path.document.text, ())
        ):
            self._verdict.faults.append(f"{path} is not what its event left")


def _copy_key(copy: GardenPath) -> tuple[str | None, str]:
    """The document of a copy, and the event that its name ends with."""
    return copy.document.text, copy.name[-39:-3]


def _has_file(tail: Tail) -> bool:
    return bool(tail.head_row and tail.head_row["leaves_file"])
