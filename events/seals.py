"""The seals over the columns of a row: what is verified is exactly what is stored.

- `line_hash` is the HMAC-SHA256 of the canonical content that an edit left.
- `chain_hash` covers everything in an event that never changes, and the chain hash before it. For the parts
  that may be erased it covers their commitments.
- `state_seal` covers an event's state, bound to the event by its chain hash.
- a head's `seal` covers the whole head.
- a stored request has a seal, and its answer another one.

Empty columns are left out, so that a column added later leaves old seals valid.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

from garden.events.idempotency import RequestIdentity
from garden.events.keyring import Keyring, Seal
from garden.events.parts import ANNOTATION_PARTS, EVENT_PARTS, commit, new_salts
from garden.events.records import Annotation, Event, Head
from garden.events.rows import (
    ANSWER_SEAL,
    CHAIN_SEAL,
    HEAD_SEAL,
    REQUEST_SEAL,
    STATE,
    STATE_SEAL,
    Row,
    annotation_row,
    event_row,
    head_row,
    seal_of,
    seal_row,
    state_row,
)
from garden.grammar.canonical import encoded

_EVENT_NOT_CHAINED = {*STATE, *CHAIN_SEAL, *STATE_SEAL, "salts", *chain(*EVENT_PARTS.values())}
_ANNOTATION_NOT_CHAINED = {*CHAIN_SEAL, "salts", *chain(*ANNOTATION_PARTS.values())}
# The hash after a change is that before it was carried out, which the chain covers.
_SEALED_STATE = tuple(name for name in STATE if name != "after_hash")


def line_seal(sealed_text: str, keys: Keyring) -> bytes:
    """The MAC of canonical content; its key version is that of the event's chain hash."""
    return keys.seal_bytes("line", encoded(sealed_text)).mac


def line_holds(row: Row, sealed_text: str, keys: Keyring) -> bool:
    """Whether an event's line hash is that of this canonical content."""
    seal = Seal(row["line_hash"], row["integrity_salt_version"])
    return keys.holds_bytes(seal, "line", encoded(sealed_text))


def seal_event(event: Event, previous: bytes, keys: Keyring) -> Event:
    """Commit to the parts of a new event, chain it to the one before it, and seal its state."""
    row = event_row(replace(event, salts=event.salts or new_salts(EVENT_PARTS)))
    row["commitments"] = commit(row, row["salts"], EVENT_PARTS)
    seal = keys.seal("chain", previous, _sealed(row, _EVENT_NOT_CHAINED))
    sealed = replace(event, salts=row["salts"], commitments=row["commitments"], chain=seal)
    return seal_state(sealed, keys)


def chain_holds(row: Row, previous: bytes, keys: Keyring) -> bool:
    """Whether an event follows the one before it and none of its fixed columns was changed."""
    return keys.holds(seal_of(row, CHAIN_SEAL), "chain", previous, _sealed(row, _EVENT_NOT_CHAINED))


def seal_state(event: Event, keys: Keyring) -> Event:
    """Seal an event's state."""
    row = state_row(event)
    state = _sealed({name: row[name] for name in _SEALED_STATE})
    return replace(event, state=keys.seal("state", event.chain.mac, state))


def state_holds(row: Row, keys: Keyring) -> bool:
    """Whether an event's state is the one that was sealed."""
    state = _sealed({name: row[name] for name in _SEALED_STATE})
    return keys.holds(seal_of(row, STATE_SEAL), "state", row["chain_hash"], state)


def seal_annotation(annotation: Annotation, previous: bytes, keys: Keyring) -> Annotation:
    """Commit to the parts of a new annotation, and chain it to the end of the journal."""
    row = annotation_row(replace(annotation, salts=annotation.salts or new_salts(ANNOTATION_PARTS)))
    row["commitments"] = commit(row, row["salts"], ANNOTATION_PARTS)
    seal = keys.seal("annotation", previous, _sealed(row, _ANNOTATION_NOT_CHAINED))
    return replace(annotation, salts=row["salts"], commitments=row["commitments"], chain=seal)


def annotation_holds(row: Row, previous: bytes, keys: Keyring) -> bool:
    """Whether an annotation follows what the journal holds before it, unchanged."""
    return keys.holds(seal_of(row, CHAIN_SEAL), "annotation", previous, _sealed(row, _ANNOTATION_NOT_CHAINED))


def sealed_head_row(user_id: str, path: str, head: Head, keys: Keyring) -> dict[str, Any]:
    """Every column of a head, with a new seal."""
    row = head_row(user_id, path, head)
    return {**row, **seal_row(keys.seal("head", _sealed(row)), HEAD_SEAL)}


def head_holds(row: Row, keys: Keyring) -> bool:
    """Whether a head is one that was sealed."""
    return keys.holds(seal_of(row, HEAD_SEAL), "head", _sealed(row, HEAD_SEAL))


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


def _sealed(row: Row, but: Collection[str] = ()) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in but and value is not None}
