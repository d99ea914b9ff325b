"""Imports an archive with its history, chain and ids.

The copies come first, then the whole account in one transaction, then the documents. Until the account is
there nothing is visible but copies without an event; from then on, the same import run again puts the
documents that are still missing.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from garden.events.accounts import AccountExistsError, AccountRow, Accounts
from garden.events.reader import EventReader
from garden.events.resealing import seal_anew, seals_hold
from garden.files.failpoints import Failpoint, reach
from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.transfer.archive_check import (
    check_unpacked,
    files_in_archive,
    rows_in,
    tombstones_in,
)
from garden.transfer.archive_file import Archive, ArchiveError, read_archive
from garden.transfer.archives import HEADS, LEFT_OUT
from garden.writing.services import Services

_WRITERS, _FAULTS_SHOWN = 8, 3
_SAME_HEAD = ("path", "version", "raw_hash", "has_file", "head_event_id", "tail_sequence")


class GardenExistsError(GardenError):
    """The user has files here that are not those of the archive."""

    code: ClassVar[str] = "already_exists"

    def __init__(self, path: GardenPath) -> None:
        super().__init__(
            f"{path} is here already, and the archive would not leave it as it is.",
            hint="An archive is imported where its user is unknown, as in a new home.",
        )


@dataclass(frozen=True)
class ImportedArchive:
    """What an import took in; `seals` tells what became of the seals."""

    user: str
    outcome: str
    events: int
    documents: int
    copies: int
    seals: str
    notes: tuple[str, ...]


def import_archive(services: Services, accounts: Accounts, path: Path) -> ImportedArchive:
    """Check an archive, and take it in as a whole; one with a fault changes nothing."""
    with read_archive(path) as archive:
        verdict = check_unpacked(archive)
        if verdict.faults:
            raise ArchiveError("; ".join(verdict.faults[:_FAULTS_SHOWN]))
        known = _knows_account(services.reader, verdict.user, archive)
        _refuse_other_files(services, archive, known=known)
        services.disk_space.check()
        is_kept = seals_hold(rows_in(archive), tombstones_in(archive), accounts.keys())
        _put_copies(services, archive)
        reach(Failpoint.BEGUN)
        if not known:
            accounts.take_over(verdict.user, _rows(archive, accounts, is_kept=is_kept))
            reach(Failpoint.WRITTEN)
        put = _put_documents(services, archive)
    outcome = "completed" if put else "unchanged"
    also = "" if is_kept else "; also the fingerprints of erased words, which only the same keys can use"
    return ImportedArchive(
        verdict.user,
        outcome if known else "imported",
        verdict.events,
        verdict.documents,
        verdict.copies,
        "are as they were" if known else "are kept" if is_kept else "are made anew",
        (*verdict.notes, f"Left aside: {LEFT_OUT}{also}."),
    )


def _rows(archive: Archive, accounts: Accounts, *, is_kept: bool) -> Iterator[AccountRow]:
    if is_kept:
        return rows_in(archive)
    return seal_anew(rows_in(archive), tombstones_in(archive), accounts.keys())


def _knows_account(reader: EventReader, user: str, archive: Archive) -> bool:
    """Whether the account is here already; refuse another one of the same user."""
    with reader.snapshot(user) as snapshot:
        here = {tuple(row[name] for name in _SAME_HEAD) for row in snapshot.fetch("heads", {})}
    there = {tuple(row[name] for name in _SAME_HEAD) for _, row in rows_in(archive, HEADS)}
    if here and here != there:
        raise AccountExistsError(user)
    return bool(here)


def _refuse_other_files(services: Services, archive: Archive, *, known: bool) -> None:
    expected = {path: archive.members[member].sha256 for member, path in files_in_archive(archive)}
    for path in expected:
        services.files.declared.check(path)
    user = archive.manifest["user"]
    for root in ("users", "history"):
        for path in services.files.documents(GardenPath(f"{root}/{user}")):
            is_same = path in expected and services.files.read(path).hash == f"sha256:{expected[path]}"
            # Before the account only copies can be of an interrupted import.
            if not is_same or (root == "users" and not known):
                raise GardenExistsError(path)


def _put_copies(services: Services, archive: Archive) -> None:
    def put(copy: tuple[str, GardenPath]) -> None:
        member, path = copy
        services.files.history.write(path, archive.read(member))

    copies = [each for each in files_in_archive(archive) if each[0].startswith("history/")]
    # A disk syncs the files of several threads together, and each for itself takes most of an import's time.
    with ThreadPoolExecutor(_WRITERS) as writers:
        for _ in writers.map(put, copies):
            pass


def _put_documents(services: Services, archive: Archive) -> int:
    put = 0
    for member, path in files_in_archive(archive):
        if not member.startswith("files/") or services.files.exists(path):
            continue
        services.files.replace(path, archive.read(member), expected=None)
        put += 1
    return put
