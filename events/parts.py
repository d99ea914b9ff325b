"""The parts of a record that may be erased, each under a commitment: a salted hash.

The chain covers the commitments and not the words, so it holds after the words and their salt are gone.
Without the salt no guess can be checked against the commitment.
"""

import os
from collections.abc import Mapping
from hashlib import sha256
from itertools import repeat
from typing import Any

from garden.events.encoding import encode

Parts = Mapping[str, tuple[str, ...]]
"""Names of parts with their columns. A new part goes to the end, because salts are stored in this order."""

EVENT_PARTS: Parts = {
    "reason": ("rationale", "override_rationale", "evidence_refs"),
    "edit": ("edit",),
    "splices": ("splices_removed", "splices_inserted"),
    "findings": ("lint",),
    "hashes": ("before_hash", "before_raw_hash", "intended_hash", "intended_raw_hash", "line_hash"),
    "names": (
        "section_anchor",
        "sections",
        "tool_call_id",
        "transaction_id",
        "agent_action_id",
        "idempotency_key",
    ),
}
ANNOTATION_PARTS: Parts = {
    "reason": ("rationale", "override_rationale", "evidence_refs"),
    "details": ("details",),
    "names": ("tool_call_id", "transaction_id", "agent_action_id"),
}

SALT_BYTES = 16
COMMITMENT_BYTES = 32
ERASED_SALT = bytes(SALT_BYTES)


def new_salts(parts: Parts) -> bytes:
    """Random salts, one for each part."""
    return os.urandom(SALT_BYTES * len(parts))


def commit(row: Mapping[str, Any], salts: bytes, parts: Parts) -> bytes:
    """The commitments to the parts of a row, one after the other."""
    return b"".join(map(_commitment, repeat(row), parts.values(), _cut(salts, SALT_BYTES)))


def erased_parts(row: Mapping[str, Any], parts: Parts) -> frozenset[str]:
    """The parts of a row whose words were erased."""
    salts = _cut(row["salts"], SALT_BYTES)
    return frozenset(name for name, salt in zip(parts, salts, strict=False) if salt == ERASED_SALT)


def broken_parts(row: Mapping[str, Any], parts: Parts) -> frozenset[str]:
    """The parts of a row that are neither erased nor what was committed to."""
    salts, commitments = _cut(row["salts"], SALT_BYTES), _cut(row["commitments"], COMMITMENT_BYTES)
    if len(salts) != len(commitments):
        return frozenset(parts)
    later = [b""] * (len(parts) - len(salts))
    committed = zip(parts.items(), salts + later, commitments + later, strict=True)
    return frozenset(
        name for (name, columns), salt, commitment in committed if not _holds(row, columns, salt, commitment)
    )


def _holds(row: Mapping[str, Any], columns: tuple[str, ...], salt: bytes, commitment: bytes) -> bool:
    if not salt:
        # The row was made before there was such a part.
        return all(row[name] is None for name in columns)
    return salt == ERASED_SALT or _commitment(row, columns, salt) == commitment


def _cut(data: bytes, size: int) -> list[bytes]:
    return [bytes(data[at : at + size]) for at in range(0, len(data or b""), size)]


def _commitment(row: Mapping[str, Any], columns: tuple[str, ...], salt: bytes) -> bytes:
    # Empty columns are left out, so that a column added later leaves old commitments valid.
    values = {name: row[name] for name in columns if row[name] is not None}
    return sha256(salt + encode(values)).digest()
