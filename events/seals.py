"""The seals over the columns of a row: what is verified is exactly what is stored.

- `line_hash` covers the canonical content that an edit left.
- `chain_hash` covers everything in an event that never changes, and the chain hash before it.
- `state_seal` covers an event's state, bound to the event by its chain hash.
- a head's `seal` covers the whole head.

Empty columns are left out, so that a column added later leaves old seals valid.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from garden.events.keyring import Keyring, Seal
from garden.events.records import Annotation, Event, Head
from garden.events.rows import (
    CHAIN_SEAL,
    HEAD_SEAL,
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

_NOT_CHAINED = {*STATE, *CHAIN_SEAL, *STATE_SEAL}


def line_seal(sealed_text: str, keys: Keyring) -> bytes:
    """The MAC of canonical content; its key version is that of the event's chain hash."""
    return keys.seal("line", sealed_text).mac


def line_holds(row: Row, sealed_text: str, keys: Keyring) -> bool:
    """Whether an event's line hash is that of this canonical content."""
    return keys.holds(Seal(row["line_hash"], row["integrity_salt_version"]), "line", sealed_text)


def seal_event(event: Event, previous: bytes, keys: Keyring) -> Event:
    """Chain a new event to the one before it, and seal its state."""
    chain = keys.seal("chain", previous, _sealed(event_row(event), _NOT_CHAINED))
    return seal_state(replace(event, chain=chain), keys)


def chain_holds(row: Row, previous: bytes, keys: Keyring) -> bool:
    """Whether an event follows the one before it and none of its fixed columns was changed."""
    return keys.holds(seal_of(row, CHAIN_SEAL), "chain", previous, _sealed(row, _NOT_CHAINED))


def seal_state(event: Event, keys: Keyring) -> Event:
    """Seal an event's state."""
    sealed = _sealed(state_row(event), STATE_SEAL)
    return replace(event, state=keys.seal("state", event.chain.mac, sealed))


def state_holds(row: Row, keys: Keyring) -> bool:
    """Whether an event's state is the one that was sealed."""
    state = _sealed({name: row[name] for name in STATE})
    return keys.holds(seal_of(row, STATE_SEAL), "state", row["chain_hash"], state)


def seal_annotation(annotation: Annotation, previous: bytes, keys: Keyring) -> Annotation:
    """Chain a new annotation to the end of the journal."""
    sealed = _sealed(annotation_row(annotation), CHAIN_SEAL)
    return replace(annotation, chain=keys.seal("annotation", previous, sealed))


def annotation_holds(row: Row, previous: bytes, keys: Keyring) -> bool:
    """Whether an annotation follows what the journal holds before it, unchanged."""
    return keys.holds(seal_of(row, CHAIN_SEAL), "annotation", previous, _sealed(row, CHAIN_SEAL))


def sealed_head_row(user_id: str, path: str, head: Head, keys: Keyring) -> dict[str, Any]:
    """Every column of a head, with a new seal."""
    row = head_row(user_id, path, head)
    return {**row, **seal_row(keys.seal("head", _sealed(row)), HEAD_SEAL)}


def head_holds(row: Row, keys: Keyring) -> bool:
    """Whether a head is one that was sealed."""
    return keys.holds(seal_of(row, HEAD_SEAL), "head", _sealed(row, HEAD_SEAL))


def _sealed(row: Row, but: Collection[str] = ()) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in but and value is not None}
