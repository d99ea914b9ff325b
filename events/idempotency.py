"""Request identities: a request has one effect, however often it is sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from garden.events.encoding import encode
from garden.grammar.errors import GardenError

LIFETIME = timedelta(hours=48)
KEY_CHARACTERS_MAX = 512


class IdempotencyConflictError(GardenError):
    """The key was used for another request within the last 48 hours."""

    code = "idempotency_conflict"


class InProgressError(GardenError):
    """The same request, or one that it has to wait for, is still running."""

    code = "in_progress"


class InvalidKeyError(GardenError):
    """A malformed idempotency key."""

    code = "invalid_input"


@dataclass(frozen=True, slots=True)
class RequestIdentity:
    """The key of a request, and a fingerprint of its contents."""

    key: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class EarlierRequest:
    """An earlier request of the same key; it has no response until it is committed."""

    event_id: UUID
    response: Mapping[str, Any] | None


def identify_request(
    user_id: str,
    tool: str,
    entity: str,
    payload: Mapping[str, Any],
    *,
    key: str | None = None,
    tool_call_id: str | None = None,
) -> RequestIdentity:
    """Identify a request by the caller's key, else by user, tool, payload and tool call."""
    fingerprint = sha256(encode([tool, entity, payload])).digest()
    if key is None:
        scope = sha256(encode([user_id, tool, entity, payload, tool_call_id])).hexdigest()
        return RequestIdentity(f"scope:{scope}", fingerprint)
    if not key or len(key) > KEY_CHARACTERS_MAX or not key.isprintable():
        raise InvalidKeyError(
            "The idempotency key is empty, too long or holds control characters.",
            hint=f"Use 1 to {KEY_CHARACTERS_MAX} printable characters, a UUID for example.",
        )
    return RequestIdentity(f"caller:{key}", fingerprint)


def earlier_request(asked: RequestIdentity, row: Mapping[str, Any]) -> EarlierRequest | None:
    """The earlier request in a row, if any; a conflict if it differs from this one."""
    if row["fingerprint"] is None:
        return None
    if bytes(row["fingerprint"]) != asked.fingerprint:
        raise IdempotencyConflictError(
            "This idempotency key was used for a different request.",
            hint="Send the earlier request again unchanged, or use a new key for this one.",
        )
    return EarlierRequest(row["event_id"], row["response"])
