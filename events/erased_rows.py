"""Events and annotations without erased words, each with a tombstone that seals what it holds now."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from garden.events.keyring import Keyring, Seal
from garden.events.parts import (
    ANNOTATION_PARTS,
    COMMITMENT_BYTES,
    ERASED_SALT,
    EVENT_PARTS,
    Parts,
    commit,
    erased_parts,
)
from garden.events.rows import Row, seal_of, splices_of, splices_row
from garden.events.saga import Status
from garden.grammar.canonical import raw_hash
from garden.grammar.gaps import FilledChange, Gaps, RecordedChange
from garden.grammar.passages import ERASED, Finder, WholeTextFinder, strike

ERASURE_TYPE = "erasure"
"""The type of the event by which passages leave a living file, or the file goes."""
TOMBSTONE_SEAL = ("seal", "seal_salt_version")
_CONTENT_HASH = re.compile("sha256:[0-9a-f]{64}")
_HASHES = ("before_hash", "before_raw_hash", "intended_hash", "intended_raw_hash", "line_hash")
_NAMES = ("section_anchor", "tool_call_id", "transaction_id", "agent_action_id")
_LISTS = ("evidence_refs", "sections")
_WORDS_OF_PAYLOADS = ("asked", "answer", "details")
_HASHES_OF_PAYLOADS = ("rawHash", "beforeHash", "afterHash")
_KEPT_FINDINGS = ("counts", "damage")


@dataclass(frozen=True)
class FilledRow:
    """A row without erased words.

    `version_hash` is the hash of the version that it leaves, if that one or the one before has gaps;
    `lost_version` was the hash of that version when it had none.
    """

    row: Row
    parts: Parts
    version_hash: str | None = None
    lost_version: str | None = None

    @property
    def row_id(self) -> Any:
        """The id of the event or annotation."""
        return self.row["annotation_id" if self.is_annotation else "event_id"]

    @property
    def is_annotation(self) -> bool:
        """Whether the row is an annotation."""
        return "annotation_id" in self.row

    def with_version(self, version_hash: str | None) -> "FilledRow":
        """The row with the hash of a version that had gaps before and has no others now."""
        return self if self.version_hash or version_hash is None else replace(self, version_hash=version_hash)

    @property
    def commitments(self) -> bytes:
        """The commitments to what the erased parts hold now; zeros for the others."""
        now = commit(self.row, ERASED_SALT * len(self.parts), self.parts)
        erased = erased_parts(self.row, self.parts)
        pieces = (now[at : at + COMMITMENT_BYTES] for at in range(0, len(now), COMMITMENT_BYTES))
        return b"".join(
            piece if name in erased else bytes(COMMITMENT_BYTES)
            for name, piece in zip(self.parts, pieces, strict=True)
        )

    def tombstone(self, user_id: str, erasure_id: Any, keys: Keyring) -> Seal:
        """The seal over what the row holds now."""
        return keys.seal("erased", user_id, self.row_id, erasure_id, self.commitments, self.version_hash)


def tombstone_holds(tombstone: Row, row: Row, parts: Parts, keys: Keyring) -> bool:
    """Whether a row with erased parts holds what its tombstone says."""
    user_id, erasure_id, version_hash = (
        tombstone[name] for name in ("user_id", "erasure_id", "version_hash")
    )
    now = FilledRow(row, parts, version_hash)
    values = user_id, now.row_id, erasure_id, now.commitments, version_hash
    return keys.holds(seal_of(tombstone, TOMBSTONE_SEAL), "erased", *values)


def gaps_in(rows: Sequence[Row], finder: Finder) -> Gaps:
    """The gaps in a document's versions."""
    changes = [
        RecordedChange(
            splices_of(row) or (), row["status"] == Status.COMMITTED, erases=row["type"] == ERASURE_TYPE
        )
        for row in rows
    ]
    return Gaps(changes, finder)


def fill_events(rows: Sequence[Row], gaps: Gaps, finder: Finder) -> Iterator[FilledRow]:
    """Yield the events of a document that have to lose words."""
    for row, change in zip(rows, gaps.filled(), strict=True):
        # A version that had gaps before may have another one now, and a new hash.
        filled = _filled(row, EVENT_PARTS, _event_without(row, finder, change), at_least=change.is_near)
        if filled is not None and change.is_near and row["status"] == Status.COMMITTED:
            now, old = raw_hash(change.text), row["intended_raw_hash"]
            filled = replace(filled, version_hash=now, lost_version=None if old == now else old)
        if filled is not None:
            yield filled


def fill_notes(rows: Iterable[Row], finder: Finder, *, with_hashes: bool) -> Iterator[FilledRow]:
    """Yield the events of the journal and the annotations that have to lose words.

    `with_hashes` takes out every content hash too: a hash over erased words would confirm a guess.
    """
    for row in rows:
        is_annotation = "annotation_id" in row
        changed = {**_words_without(row, finder), **_details_without(row, finder, with_hashes=with_hashes)}
        filled = _filled(row, ANNOTATION_PARTS if is_annotation else EVENT_PARTS, changed)
        if filled is not None:
            yield filled


def _event_without(row: Row, finder: Finder, change: FilledChange) -> dict[str, Any]:
    changed = {**_words_without(row, finder), **_details_without(row, finder, with_hashes=change.is_near)}
    if change.is_touched:
        changed |= {
            name: value for name, value in splices_row(change.splices).items() if name != "splice_offsets"
        }
        # It may be a hash over the words of the request.
        changed["idempotency_key"] = None
    if change.is_near:
        changed |= dict.fromkeys(_HASHES)
        changed["edit"] = _payload_near_gap(changed["edit"], is_touched=change.is_touched)
        changed["lint"] = _findings_near_gap(changed["lint"])
    return changed


def _words_without(row: Row, finder: Finder) -> dict[str, Any]:
    changed: dict[str, Any] = {
        name: _struck(row[name], finder)
        for name in ("rationale", "override_rationale", *_LISTS, *_NAMES)
        if name in row
    }
    if isinstance(finder, WholeTextFinder):
        changed = {name: [] if name in _LISTS else None for name in changed}
    is_changed = any(row[name] != value for name, value in changed.items())
    if "idempotency_key" in row and (is_changed or finder.find(_own_key(row))):
        changed["idempotency_key"] = None
    return changed


def _own_key(row: Row) -> str:
    """The key that the caller chose, without the word that says so."""
    return (row["idempotency_key"] or "").partition(":")[2]


def _details_without(row: Row, finder: Finder, *, with_hashes: bool) -> dict[str, Any]:
    is_all = isinstance(finder, WholeTextFinder)
    if "annotation_id" in row:
        details = None if is_all else _struck(row["details"], finder, with_hashes=with_hashes)
        return {"details": details}
    edit = row["edit"] and dict(row["edit"])
    for name in _WORDS_OF_PAYLOADS:
        if edit and name in edit:
            edit[name] = {} if is_all else _struck(edit[name], finder, with_hashes=with_hashes)
    for name in _HASHES_OF_PAYLOADS:
        if edit and name in edit and (with_hashes or is_all):
            edit[name] = ""
    return {"edit": edit, "lint": _findings_near_gap(row["lint"]) if is_all else _struck(row["lint"], finder)}


def _payload_near_gap(edit: Mapping[str, Any] | None, *, is_touched: bool) -> dict[str, Any] | None:
    """The payload of an edit near a gap, without what repeats the words of the splices."""
    if edit is None:
        return None
    kept = {name: value for name, value in edit.items() if name != "answer"}
    if is_touched and "asked" in kept:
        kept["asked"] = {}
    return kept


def _findings_near_gap(lint: Mapping[str, Any] | None) -> dict[str, Any] | None:
    # Findings quote the text.
    return None if lint is None else {name: lint[name] for name in _KEPT_FINDINGS if name in lint}


def _struck(value: Any, finder: Finder, *, with_hashes: bool = False) -> Any:
    match value:
        case str():
            value = strike(value, finder)
            return _CONTENT_HASH.sub(ERASED, value) if with_hashes else value
        case list() | tuple():
            return [_struck(each, finder, with_hashes=with_hashes) for each in value]
        case Mapping():
            return {
                _struck(name, finder): _struck(each, finder, with_hashes=with_hashes)
                for name, each in value.items()
            }
    return value


def _filled(
    row: Row, parts: Parts, changed: Mapping[str, Any], *, at_least: bool = False
) -> FilledRow | None:
    lost = [
        name
        for name, columns in parts.items()
        if any(column in changed and changed[column] != row[column] for column in columns)
    ]
    if not lost and not at_least:
        return None
    old = bytes(row["salts"])
    size = len(ERASED_SALT)
    salts = b"".join(
        ERASED_SALT if name in lost else old[place * size : (place + 1) * size]
        for place, name in enumerate(parts)
    )
    return FilledRow({**row, **changed, "salts": salts}, parts)
