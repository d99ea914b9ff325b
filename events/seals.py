"""The seals over the columns of a row: what is verified is exactly what is stored.

- `line_hash` is the HMAC-SHA256 of the canonical content that an edit left.
- `chain_hash` covers everything in an event that never changes, and the chain hash before it. For the parts
  that may be erased it covers their commitments.
- `state_seal` covers an event's state, bound to the event by its chain hash.
- a head's `seal` covers the whole head.
- a stored request has a seal, and its answer another one.

Empty columns are left out, so that a column added later leaves old seals valid.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from json.encoder import encode_basestring_ascii
from typing import Any
from uuid import UUID

from garden.events.idempotency import RequestIdentity
from garden.events.keyring import Keyring, Seal
from garden.events.parts import (
    ANNOTATION_PARTS,
    COMMITMENT_BYTES,
    EVENT_PARTS,
    commit,
    erased_parts,
    new_salts,
)
from garden.events.records import Event, Head
from garden.events.rows import (
    ANNOTATION_COLUMNS,
    ANSWER_SEAL,
    CHAIN_SEAL,
    EVENT_COLUMNS,
    HEAD_COLUMNS,
    HEAD_SEAL,
    LEAF_ANNOTATION,
    LEAF_EVENT,
    REQUEST_SEAL,
    STATE,
    STATE_SEAL,
    Row,
    event_row,
    head_row,
    seal_of,
    seal_row,
    state_row,
)
from garden.grammar.canonical import encoded

_NOT_CHAINED = {*STATE, *CHAIN_SEAL, *STATE_SEAL, "salts"}
_CHAINED_EVENT = tuple(
    name for name in EVENT_COLUMNS if name not in _NOT_CHAINED.union(*EVENT_PARTS.values())
)
_CHAINED_ANNOTATION = tuple(
    name for name in ANNOTATION_COLUMNS if name not in _NOT_CHAINED.union(*ANNOTATION_PARTS.values())
)
_SEALED_HEAD = tuple(name for name in HEAD_COLUMNS if name not in HEAD_SEAL)
_EVENT_LEAF, _ANNOTATION_LEAF = (sorted(names) for names in (LEAF_EVENT, LEAF_ANNOTATION))
# The hash after a change is that before it was carried out, which the chain covers.
_SEALED_STATE = tuple(name for name in STATE if name != "after_hash")


def line_seal(sealed_text: str, keys: Keyring) -> bytes:
    """The MAC of canonical content; its key version is that of the event's chain hash."""
    return keys.seal_bytes("line", encoded(sealed_text)).mac


def line_holds(row: Row, sealed_text: str, keys: Keyring) -> bool:
    """Whether an event's line hash is that of this canonical content."""
    seal = Seal(row["line_hash"], row["integrity_salt_version"])
    return keys.holds_bytes(seal, "line", encoded(sealed_text))


def seal_event(event: Event, previous: bytes, keys: Keyring) -> tuple[Event, dict[str, Any]]:
    """Commit to the parts of a new event, chain it to the one before it, and seal its state; with its row."""
    row = event_row(event)
    row["salts"] = salts = event.salts or new_salts(EVENT_PARTS)
    row["commitments"] = commitments = commit(row, salts, EVENT_PARTS)
    sealed = keys.seal("chain", previous, _filled(row, _CHAINED_EVENT))
    state = keys.seal("state", sealed.mac, _filled(row, _SEALED_STATE))
    row |= seal_row(sealed, CHAIN_SEAL) | seal_row(state, STATE_SEAL)
    return event._replace(salts=salts, commitments=commitments, chain=sealed, state=state), row


def chain_holds(row: Row, previous: bytes, keys: Keyring) -> bool:
    """Whether an event follows the one before it and none of its fixed columns was changed."""
    return keys.holds(seal_of(row, CHAIN_SEAL), "chain", previous, _filled(row, _CHAINED_EVENT))


def seal_state(event: Event, keys: Keyring, **changes: Any) -> Event:
    """The event in its next state, sealed."""
    state = _filled(state_row(event) | changes, _SEALED_STATE)
    return event._replace(**changes, state=keys.seal("state", event.chain.mac, state))


def state_holds(row: Row, keys: Keyring) -> bool:
    """Whether an event's state is the one that was sealed."""
    return keys.holds(seal_of(row, STATE_SEAL), "state", row["chain_hash"], _filled(row, _SEALED_STATE))


def seal_annotation(row: Row, previous: bytes, keys: Keyring) -> dict[str, Any]:
    """Commit to the parts of a new annotation, and chain it to the end of the journal."""
    salts = row.get("salts") or new_salts(ANNOTATION_PARTS)
    whole = {**row, "salts": salts, "commitments": commit(row, salts, ANNOTATION_PARTS)}
    return whole | seal_row(
        keys.seal("annotation", previous, _filled(whole, _CHAINED_ANNOTATION)), CHAIN_SEAL
    )


def annotation_holds(row: Row, previous: bytes, keys: Keyring) -> bool:
    """Whether an annotation follows what the journal holds before it, unchanged."""
    return keys.holds(seal_of(row, CHAIN_SEAL), "annotation", previous, _filled(row, _CHAINED_ANNOTATION))


def seal_head(user_id: str, path: str, head: Head, keys: Keyring) -> Seal:
    """Seal every column of a head."""
    return keys.seal("head", _filled(head_row(user_id, path, head), _SEALED_HEAD))


def head_holds(row: Row, keys: Keyring) -> bool:
    """Whether a head is one that was sealed."""
    return keys.holds(seal_of(row, HEAD_SEAL), "head", _filled(row, _SEALED_HEAD))


def seal_request(
    user_id: str, request: RequestIdentity, event_id: UUID, at: datetime, expires_at: datetime, keys: Keyring
) -> Seal:
    """Seal a request that is about to be stored."""
    return keys.seal("request", user_id, request.key, request.fingerprint, event_id, at, expires_at)


def seal_answer(user_id: str, key: str, event_id: UUID, response: Mapping[str, Any], keys: Keyring) -> Seal:
    """Seal the answer of a stored request."""
    return keys.seal("answer", user_id, key, event_id, response)


def request_holds(user_id: str, key: str, row: Row, keys: Keyring) -> bool:
    """Whether a stored request, and its answer if it has one, are as they were sealed."""
    values = (row[name] for name in ("fingerprint", "event_id", "created_at", "expires_at"))
    if not keys.holds(seal_of(row, REQUEST_SEAL), "request", user_id, key, *values):
        return False
    if row["response"] is None:
        return True
    return keys.holds(seal_of(row, ANSWER_SEAL), "answer", user_id, key, row["event_id"], row["response"])


def reseal_event(row: Row, previous: bytes, keys: Keyring) -> dict[str, Any]:
    """Seal an event that comes from another home; its commitments to hashes are made anew unless erased."""
    row = {**row, "commitments": _committed_anew(row, "hashes")}
    sealed = keys.seal("chain", previous, _filled(row, _CHAINED_EVENT))
    state = keys.seal("state", sealed.mac, _filled(row, _SEALED_STATE))
    return row | seal_row(sealed, CHAIN_SEAL) | seal_row(state, STATE_SEAL)


def reseal_annotation(row: Row, previous: bytes, keys: Keyring) -> dict[str, Any]:
    """Seal an annotation that comes from another home."""
    sealed = keys.seal("annotation", previous, _filled(row, _CHAINED_ANNOTATION))
    return {**row, **seal_row(sealed, CHAIN_SEAL)}


def reseal_head(row: Row, keys: Keyring) -> dict[str, Any]:
    """Seal the row of a head."""
    return {**row, **seal_row(keys.seal("head", _filled(row, _SEALED_HEAD)), HEAD_SEAL)}


def _committed_anew(row: Row, part: str) -> bytes:
    at, old = list(EVENT_PARTS).index(part), bytes(row["commitments"])
    if part in erased_parts(row, EVENT_PARTS):
        return old
    start = at * COMMITMENT_BYTES
    now = commit(row, row["salts"], EVENT_PARTS)[start : start + COMMITMENT_BYTES]
    return old[:start] + now + old[start + COMMITMENT_BYTES :]


def leaf_digest(row: Row) -> bytes:
    """The SHA-256 of all columns of a settled event or an annotation that an erasure leaves as they are.

    It is taken of lines `name value`, sorted by name, without empty columns, so that strangers can make it.
    """
    names = _ANNOTATION_LEAF if "annotation_id" in row else _EVENT_LEAF
    lines = [
        f"{name} {_SHOWN.get(type(value), str)(value)}\n"
        for name in names
        if (value := row[name]) is not None
    ]
    return sha256("".join(lines).encode()).digest()


def leaf_entry(row: Row) -> bytes:
    """The log's entry for a settled event or an annotation; it shows no word, user or path."""
    kind = "annotation" if "annotation_id" in row else "event"
    return f"{kind}/v1 {row[f'{kind}_id']} sha256:{leaf_digest(row).hex()}".encode()


def _time(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="microseconds")


# By far faster than JSON of the whole, which took most of the time of a checkpoint.
_SHOWN: Mapping[type, Callable[[Any], str]] = {
    str: encode_basestring_ascii,
    bytes: bytes.hex,
    datetime: _time,
    bool: lambda value: "true" if value else "false",
}


def _filled(row: Row, columns: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in columns if row[name] is not None}
