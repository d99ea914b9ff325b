"""Request identities: a request has one effect, however often it is sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from garden.events.encoding import encode
from garden.events.records import Caller
from garden.grammar.errors import GardenError

LIFETIME = timedelta(hours=48)
RESEND_SECONDS = 600
KEY_CHARACTERS_MAX = 512
CALLERS_KEY = "caller:"
"""Begins a key that the caller chose."""


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
    """The key of a request, a fingerprint of its contents, and the time for which the key is kept.

    A request that counts as sent again `only_while_newest` is a new one as soon as anything else has changed.
    """

    key: str
    fingerprint: bytes
    lifetime: timedelta = LIFETIME
    only_while_newest: bool = False


@dataclass(frozen=True, slots=True)
class EarlierRequest:
    """An earlier request of the same key; it has no response until it is committed."""

    event_id: UUID
    response: Mapping[str, Any] | None


def identify_request(
    caller: Caller,
    tool: str,
    entity: str,
    payload: Mapping[str, Any],
    *,
    key: str | None = None,
    resend_seconds: int = RESEND_SECONDS,
) -> RequestIdentity:
    """Identify a request by the caller's key, else by its tool call, else by its words alone.

    Clients use the ids of tool calls again, so that such an id counts only together with the words.
    """
    fingerprint = sha256(encode([tool, entity, payload])).digest()
    if key is not None:
        _check_key(key)
        return RequestIdentity(f"{CALLERS_KEY}{key}", fingerprint)
    scope = [caller.user_id, caller.actor, caller.transaction_id, tool, entity, payload, caller.tool_call_id]
    digest = sha256(encode(scope)).hexdigest()
    if caller.tool_call_id is not None:
        return RequestIdentity(f"call:{digest}", fingerprint)
    lifetime = timedelta(seconds=resend_seconds)
    return RequestIdentity(f"scope:{digest}", fingerprint, lifetime, only_while_newest=True)


def _check_key(key: object) -> None:
    if not isinstance(key, str) or not key or len(key) > KEY_CHARACTERS_MAX or not key.isprintable():
        raise InvalidKeyError(
            "The idempotency key is empty, too long or holds control characters.",
            hint=f"Use 1 to {KEY_CHARACTERS_MAX} printable characters, a UUID for example.",
        )


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
