"""Follows the streams of an account row by row: their order, commitments and texts, which need no key.

What does need the keys, the seals, can be compared with them or made anew while a stream is followed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from garden.events.accounts import AccountRow
from garden.events.erased_rows import TOMBSTONE_SEAL, FilledRow, tombstone_holds
from garden.events.erasures import erasure_holds, seal_erasure
from garden.events.keyring import Keyring
from garden.events.parts import ANNOTATION_PARTS, EVENT_PARTS, Parts, broken_parts, erased_parts
from garden.events.records import JOURNAL, NO_CHAIN
from garden.events.rows import Row, seal_row, splices_of
from garden.events.saga import Status
from garden.events.seals import (
    annotation_holds,
    chain_holds,
    head_holds,
    line_seal,
    reseal_annotation,
    reseal_event,
    reseal_head,
    state_holds,
)
from garden.events.verifier import sealed_text
from garden.grammar.canonical import decoded, raw_hash
from garden.grammar.errors import GardenError
from garden.grammar.splice import apply_to_bytes


class BrokenRowError(Exception):
    """A row does not follow on those before it, or does not hold what it commits to."""


@dataclass(slots=True)
class FollowedStream:
    """One stream up to its last row; `tombstones` are those of the user's rows."""

    tombstones: Mapping[UUID, Row] = field(default_factory=dict)
    name: str = JOURNAL
    sequence: int = 0
    version: int = 0
    text: bytes = b""
    text_hash: str | None = None
    chain: bytes = NO_CHAIN
    head_event_id: UUID | None = None
    has_file: bool = False

    def follow(self, table: str, row: Row) -> None:
        """Check the next row and take its change over; refuse one that does not fit."""
        if row["sequence"] != self.sequence + 1:
            raise BrokenRowError(f"entry {self.sequence + 1} of {self.name or 'the journal'} is missing")
        parts = ANNOTATION_PARTS if table == "annotation" else EVENT_PARTS
        self._check_parts(row, parts)
        self.sequence, self.chain = row["sequence"], row["chain_hash"]
        if table == "event":
            self._check_state(row)
            if row["status"] == Status.COMMITTED and row["document_version"] is not None:
                self._change(row)

    def text_after(self, row: Row) -> str:
        """The text that an event leaves, or would have left."""
        return decoded(apply_to_bytes(self.text, splices_of(row) or ()))

    def _check_parts(self, row: Row, parts: Parts) -> None:
        if broken_parts(row, parts):
            raise BrokenRowError("its words are not those it commits to")
        if not erased_parts(row, parts):
            return
        filled = FilledRow(row, parts)
        tombstone = self.tombstones.get(filled.row_id)
        if tombstone is None or tombstone["commitments"] != filled.commitments:
            raise BrokenRowError("words are gone from it that no tombstone names")

    def _check_state(self, row: Row) -> None:
        if row["status"] not in (Status.COMMITTED, Status.FAILED):
            raise BrokenRowError("it has not come to its end")
        if row["after_hash"] != (row["intended_hash"] if row["status"] == Status.COMMITTED else None):
            raise BrokenRowError("its state does not fit its change")

    def _change(self, row: Row) -> None:
        try:
            text = apply_to_bytes(self.text, splices_of(row) or ())
        except (GardenError, UnicodeDecodeError):
            raise BrokenRowError("its change does not fit the text before it") from None
        hash_now = raw_hash(text)
        tombstone = self.tombstones.get(row["event_id"], {})
        if row["document_version"] != self.version + 1:
            raise BrokenRowError(f"it is not version {self.version + 1} of its document")
        if hash_now != (row["intended_raw_hash"] or tombstone.get("version_hash")):
            raise BrokenRowError("its change does not lead to the text it names")
        self.text, self.text_hash, self.version = text, hash_now, row["document_version"]
        self.head_event_id, self.has_file = row["event_id"], row["leaves_file"]


def seals_hold(rows: Iterable[AccountRow], keys: Keyring) -> bool:
    """Whether every seal of an account was made with these keys."""
    chains: dict[str, bytes] = {}
    tombstones: dict[UUID, Row] = {}
    return all(_seal_holds(table, row, chains, tombstones, keys) for table, row in rows)


def _seal_holds(
    table: str, row: Row, chains: dict[str, bytes], filled: dict[UUID, Row], keys: Keyring
) -> bool:
    match table:
        case "event" | "annotation":
            stream = row.get("stream", JOURNAL)
            previous, chains[stream] = chains.get(stream, NO_CHAIN), row["chain_hash"]
            if erased_parts(row, ANNOTATION_PARTS if table == "annotation" else EVENT_PARTS):
                filled[row["annotation_id" if table == "annotation" else "event_id"]] = row
            if table == "annotation":
                return annotation_holds(row, previous, keys)
            return chain_holds(row, previous, keys) and state_holds(row, keys)
        case "head":
            return head_holds(row, keys)
        case "erasure":
            return erasure_holds(row, keys)
        case "erased_row" if (known := filled.get(row["row_id"])) is not None:
            parts = ANNOTATION_PARTS if "annotation_id" in known else EVENT_PARTS
            return tombstone_holds(row, known, parts, keys)
        case "erased_word":
            return keys.has(row["salt_version"])
    return True


def seal_anew(
    rows: Iterable[AccountRow], tombstones: Mapping[UUID, Row], keys: Keyring
) -> Iterator[AccountRow]:
    """The rows of an account with seals of these keys; fingerprints of erased words are left out.

    A line hash is a seal as well, and an event commits to it with its other hashes, so that one commitment is
    made anew too. Everything else of a row stays as it is.
    """
    tail, chains = FollowedStream(), dict[str, bytes]()
    for table, row in rows:
        match table:
            case "event" | "annotation":
                name = row.get("stream", JOURNAL)
                if name != tail.name:
                    tail = FollowedStream(tombstones, name)
                sealed = _chained_anew(table, row, tail, chains.get(name, NO_CHAIN), keys)
                chains[name] = sealed["chain_hash"]
                tail.follow(table, row)
                yield table, sealed
            case "head":
                yield table, reseal_head({**row, "tail_chain_hash": chains.get(row["path"], NO_CHAIN)}, keys)
            case "erasure":
                yield table, seal_erasure(row, keys)
            case "erased_row":
                values = (row[name] for name in _TOMBSTONE)
                yield table, {**row, **seal_row(keys.seal("erased", *values), TOMBSTONE_SEAL)}
            case "feed":
                yield table, row


_TOMBSTONE = ("user_id", "row_id", "erasure_id", "commitments", "version_hash")


def _chained_anew(table: str, row: Row, tail: FollowedStream, previous: bytes, keys: Keyring) -> Row:
    if table == "annotation":
        return reseal_annotation(row, previous, keys)
    if row["line_hash"] is None:
        return reseal_event(row, previous, keys)
    return reseal_event({**row, "line_hash": _line_of(row, tail, keys)}, previous, keys)


def _line_of(row: Row, tail: FollowedStream, keys: Keyring) -> bytes:
    try:
        text = tail.text_after(row)
    except (GardenError, UnicodeDecodeError):
        # A change that failed may fit no text that stood; its line hash is never compared.
        text = ""
    return line_seal(sealed_text(text, row["edit"]), keys)
