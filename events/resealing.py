"""The seals of an account from elsewhere: followed without its keys, compared with other keys, made anew."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from uuid import UUID

from garden.events.accounts import AccountRow
from garden.events.erased_rows import TOMBSTONE_SEAL, FilledRow
from garden.events.erasures import erasure_holds, seal_erasure
from garden.events.keyring import Keyring, Seal
from garden.events.parts import ANNOTATION_PARTS, EVENT_PARTS, erased_parts
from garden.events.records import JOURNAL, NO_CHAIN
from garden.events.row_checks import FaultFoundError, Tail, check_head, check_row, sealed_text
from garden.events.rows import Row, seal_row, splices_of
from garden.events.seals import line_seal, reseal_annotation, reseal_event, reseal_head
from garden.grammar.canonical import decoded
from garden.grammar.errors import GardenError
from garden.grammar.splice import apply_to_bytes

_TOMBSTONE = ("user_id", "row_id", "erasure_id", "commitments", "version_hash")
_CHAINED = {"event", "annotation"}


class _UnknownKeys(Keyring):
    """The keys of another home: nothing tells whether one of their seals holds."""

    def has(self, version: int) -> bool:
        """Take every version for one of that home's."""
        return version > 0

    def holds_bytes(self, seal: Seal, purpose: str, data: bytes) -> bool:  # noqa: ARG002
        """Leave the seal unchecked."""
        return True


_UNKNOWN_KEYS = _UnknownKeys({1: bytes(32)})


def stream_of(row: Row) -> str:
    """The stream of an event or annotation."""
    return str(row.get("stream", JOURNAL))


def follow_unsealed(row: Row, tail: Tail) -> None:
    """Check the next event of a stream as far as that needs no key, and move the tail on."""
    parts = ANNOTATION_PARTS if "annotation_id" in row else EVENT_PARTS
    if erased_parts(row, parts):
        filled = FilledRow(row, parts)
        tombstone = tail.tombstones.get(filled.row_id)
        if tombstone is not None and tombstone["commitments"] != filled.commitments:
            raise FaultFoundError("what an erasure left of it was changed", row)
    check_row(row, tail, _UNKNOWN_KEYS, None)


def seals_hold(rows: Iterable[AccountRow], tombstones: Mapping[UUID, Row], keys: Keyring) -> bool:
    """Whether every seal of an account was made with these keys."""
    tails: dict[str, Tail] = defaultdict(partial(Tail, tombstones))
    try:
        return all(_holds(table, row, tails, keys) for table, row in rows)
    except FaultFoundError:
        return False


def _holds(table: str, row: Row, tails: Mapping[str, Tail], keys: Keyring) -> bool:
    if table in _CHAINED:
        check_row(row, tails[stream_of(row)], keys, None)
    elif table == "head":
        check_head(row, tails[row["path"]], keys)
    elif table == "erasure":
        return erasure_holds(row, keys)
    elif table == "erased_word":
        return keys.has(row["salt_version"])
    return True


def seal_anew(
    rows: Iterable[AccountRow], tombstones: Mapping[UUID, Row], keys: Keyring
) -> Iterator[AccountRow]:
    """The rows of an account with seals of these keys; fingerprints of erased words are left out.

    A line hash is a seal as well, and an event commits to it with its other hashes, so that one commitment is
    made anew too. Everything else of a row stays as it is.
    """
    tails: dict[str, Tail] = defaultdict(partial(Tail, tombstones))
    chains: dict[str, bytes] = defaultdict(lambda: NO_CHAIN)
    for table, row in rows:
        if table in _CHAINED:
            stream = stream_of(row)
            sealed = _chained_anew(row, tails[stream], chains[stream], keys)
            chains[stream] = sealed["chain_hash"]
            follow_unsealed(row, tails[stream])
            yield table, sealed
        elif table == "head":
            yield table, reseal_head({**row, "tail_chain_hash": chains[row["path"]]}, keys)
        elif table == "erasure":
            yield table, seal_erasure(row, keys)
        elif table == "erased_row":
            seal = keys.seal("erased", *(row[name] for name in _TOMBSTONE))
            yield table, {**row, **seal_row(seal, TOMBSTONE_SEAL)}
        elif table == "feed":
            yield table, row


def _chained_anew(row: Row, tail: Tail, previous: bytes, keys: Keyring) -> Row:
    if "annotation_id" in row:
        return reseal_annotation(row, previous, keys)
    if row["line_hash"] is None:
        return reseal_event(row, previous, keys)
    try:
        text = decoded(apply_to_bytes(tail.data, splices_of(row) or ()))
    except (GardenError, UnicodeDecodeError):
        # A change that failed may fit no text that stood; its line hash is never compared.
        text = ""
    return reseal_event({**row, "line_hash": line_seal(sealed_text(text, row["edit"]), keys)}, previous, keys)
