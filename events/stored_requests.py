"""Stored requests: their sealed rows, with their answers, and the earlier request of the same key."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from garden.events.idempotency import EarlierRequest, RequestIdentity, earlier_request
from garden.events.keyring import Keyring
from garden.events.rows import Row
from garden.events.seals import request_holds, seal_answer, seal_request
from garden.grammar.errors import GardenError


class StoredAnswerChangedError(GardenError):
    """A stored request or its answer is not as it was sealed."""

    code = "unavailable"


def find_earlier(
    user_id: str, request: RequestIdentity | None, row: Row, keys: Keyring
) -> EarlierRequest | None:
    """The earlier request in the row of an opened stream, if any, as it was sealed."""
    if request is None or row["fingerprint"] is None:
        return None
    if not request_holds(user_id, request.key, row, keys):
        raise StoredAnswerChangedError(
            "The stored answer of this request is not as it was recorded.",
            hint="Nothing was done. Use a different idempotencyKey, and have the operator run "
            "'garden keys verify'.",
        )
    return earlier_request(request, row)


def request_values(
    user_id: str,
    request: RequestIdentity | None,
    event_id: UUID,
    at: datetime,
    response: Mapping[str, Any] | None,
    keys: Keyring,
) -> dict[str, Any]:
    """What is stored of a request, with its answer where that is known; empty without a request."""
    if request is None:
        names = "idempotency_key", "fingerprint", "expires_at", "request_seal", "response", "answer_seal"
        return dict.fromkeys(names)
    expires_at = at + request.lifetime
    seal = seal_request(user_id, request, event_id, at, expires_at, keys)
    return {
        "fingerprint": request.fingerprint,
        "expires_at": expires_at,
        "request_seal": seal.mac,
        **answer_values(user_id, request.key, event_id, response, keys),
    }


def answer_values(
    user_id: str, key: str | None, event_id: UUID, response: Mapping[str, Any] | None, keys: Keyring
) -> dict[str, Any]:
    """What is stored of an answer; empty without a key or an answer."""
    if key is None or response is None:
        return {"idempotency_key": key, "response": None, "answer_seal": None}
    seal = seal_answer(user_id, key, event_id, response, keys)
    return {"idempotency_key": key, "response": Jsonb(dict(response)), "answer_seal": seal.mac}
