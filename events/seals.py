"""What each seal covers: computed over the columns of a row, so that what is verified is what is stored.

- `line_hash`: the canonical content that an edit left behind.
- `chain_hash`: all of an event that never changes, and the chain hash of the event before it.
- `state_seal`: the state an event is in, bound to that event by its chain hash.
- a head's `seal`: all of the head.

Columns without a value are left out, so that a column added later leaves old seals as they are.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from garden.events.keyring import Keyring, Seal
from garden.events.records import Annotation, Event, Head
from garden.events.rows import STATE, annotation_row, event_row, head_row

Row = Mapping[str, Any]

_NOT_CHAINED = {*STATE, "chain_hash", "integrity_salt_version", "state_seal", "state_salt_version"}
_HEAD_SEAL = {"seal", "seal_salt_version"}


def line_seal(sealed_text: str, keys: Keyring) -> bytes:
    """Sign canonical content; its key's version is that of the event's chain hash."""
    return keys.seal("line", sealed_text).mac


def line_holds(row: Row, sealed_text: str, keys: Keyring) -> bool:
    """Whether the line hash of an event is that of this canonical content."""
    return keys.holds(Seal(row["line_hash"], row["integrity_salt_version"]), "line", sealed_text)


def seal_event(event: Event, previous: bytes, keys: Keyring) -> Event:
    """Chain a new event to the one before it, and seal the state it is in."""
    chain = keys.seal("chain", previous, _chained(event_row(event)))
    return replace(event, chain=chain, state=_state_seal(event, chain.mac, keys))


def chain_holds(row: Row, previous: bytes, keys: Keyring) -> bool:
    """Whether an event follows on the one before it, and nothing that never changes has been changed."""
    return keys.holds(_chain_seal(row), "chain", previous, _chained(row))


def seal_state(event: Event, keys: Keyring) -> Event:
    """Seal the state an event is in."""
    return replace(event, state=_state_seal(event, event.chain.mac, keys))


def state_holds(row: Row, keys: Keyring) -> bool:
    """Whether an event's state is one that it was given."""
    seal = Seal(row["state_seal"], row["state_salt_version"])
    return keys.holds(seal, "state", row["chain_hash"], _only(row, STATE))


def seal_annotation(user_id: str, annotation: Annotation, previous: bytes, keys: Keyring) -> Annotation:
    """Chain a new annotation to what the journal holds before it."""
    row = _chained(annotation_row(user_id, annotation))
    return replace(annotation, chain=keys.seal("annotation", previous, row))


def annotation_holds(row: Row, previous: bytes, keys: Keyring) -> bool:
    """Whether an annotation follows on what the journal holds before it, and nothing in it was changed."""
    return keys.holds(_chain_seal(row), "annotation", previous, _chained(row))


def seal_head(user_id: str, path: str, head: Head, keys: Keyring) -> Head:
    """Seal a head."""
    row = head_row(user_id, path, head)
    return replace(head, seal=keys.seal("head", _without(row, _HEAD_SEAL)))


def head_holds(row: Row, keys: Keyring) -> bool:
    """Whether a head is one that was sealed."""
    return keys.holds(Seal(row["seal"], row["seal_salt_version"]), "head", _without(row, _HEAD_SEAL))


def _state_seal(event: Event, chain: bytes, keys: Keyring) -> Seal:
    return keys.seal("state", chain, _only({name: getattr(event, name) for name in STATE}, STATE))


def _chain_seal(row: Row) -> Seal:
    return Seal(row["chain_hash"], row["integrity_salt_version"])


def _chained(row: Row) -> dict[str, Any]:
    return _without(row, _NOT_CHAINED)


def _only(row: Row, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in names if row[name] is not None}


def _without(row: Row, names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names and value is not None}
