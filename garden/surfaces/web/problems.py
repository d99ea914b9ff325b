"""Refusals over HTTP: the status of every error code, and problem+json that is also the envelope."""

import json
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from fastapi import Response

from garden.gateway.dispatcher import Envelope, refusal
from garden.grammar.errors import GardenError
from garden.tools.error_codes import CODES

PROBLEM = "application/problem+json"
_TYPES = "urn:memory-garden:error:"
# The client need not send the rest.
_CLOSE: Mapping[str, str] = MappingProxyType({"Connection": "close"})

STATUSES: Mapping[str, int] = MappingProxyType(
    {
        "invalid_input": 400,
        "not_found": 404,
        "path_not_allowed": 403,
        "delete_not_allowed": 403,
        "anchor_not_found": 404,
        "anchor_ambiguous": 409,
        "anchor_changed": 422,
        "anchor_in_text": 422,
        "heading_in_section": 422,
        "identity_changed": 422,
        "malformed_document": 409,
        "precondition_failed": 412,
        "override_required": 422,
        "patch_conflict": 409,
        "already_exists": 409,
        "idempotency_conflict": 422,
        "in_progress": 409,
        "permission_denied": 403,
        "permission_required": 403,
        "rate_limited": 429,
        "unknown_tool": 404,
        "too_large": 413,
        "not_text": 422,
        "document_damaged": 409,
        "erased": 422,
        "not_run": 409,
        "unavailable": 503,
        "internal": 500,
    }
)
"""The status of every code; an `HttpError` has a status of its own."""

RETRY_SECONDS: Mapping[str, int] = MappingProxyType({"in_progress": 1, "rate_limited": 1, "unavailable": 1})
"""Codes after which the same request may succeed, and how long to wait first."""


class HttpError(GardenError):
    """A request that is wrong as HTTP, with a status of its own."""

    status: ClassVar[int] = 400
    headers: Mapping[str, str] = MappingProxyType({})


class NotAcceptedError(HttpError):
    """Part of the request can't be read."""

    code = "invalid_input"


class TokenRequiredError(HttpError):
    """The request carries no token, or none that is live."""

    code = "permission_denied"
    status = 401
    headers = MappingProxyType({"WWW-Authenticate": 'Bearer realm="memory-garden"'})


class ForbiddenError(HttpError):
    """This caller may not do this."""

    code = "permission_denied"
    status = 403


class NoRouteError(HttpError):
    """No route has this address."""

    code = "not_found"
    status = 404


class TooLateError(HttpError):
    """The request did not arrive in time."""

    code = "invalid_input"
    status = 408
    headers = _CLOSE


class BodyTooLargeError(HttpError):
    """The body is larger than any call needs."""

    code = "too_large"
    status = 413
    headers = _CLOSE


class HeadTooLargeError(HttpError):
    """The head of the request is larger than any request needs."""

    code = "too_large"
    status = 431


class MediaTypeError(HttpError):
    """The body is not JSON in UTF-8."""

    code = "invalid_input"
    status = 415


class MethodError(HttpError):
    """The address has routes, but none for this method."""

    code = "invalid_input"
    status = 405

    def __init__(self, allowed: Sequence[str]) -> None:
        super().__init__("This address does not take this method.", hint=f"Use {' or '.join(allowed)}.")
        self.headers = {"Allow": ", ".join(allowed)}


def problem(error: GardenError) -> Response:
    """Answer with an error."""
    if isinstance(error, HttpError):
        return refuse(refusal(error), error.status, error.headers)
    return refuse(refusal(error))


def refuse(
    envelope: Envelope, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer with the envelope of a refusal."""
    error = envelope["error"]
    status = STATUSES[error["code"]] if status is None else status
    body = {
        "type": f"{_TYPES}{error['code']}",
        "title": CODES[error["code"]].meaning,
        "status": status,
        "detail": error["message"],
        **envelope,
    }
    retry = {"Retry-After": _retry_seconds(error)} if error["code"] in RETRY_SECONDS else {}
    return Response(as_json(body), status, {**retry, **(headers or {})}, PROBLEM)


def _retry_seconds(error: Mapping[str, Any]) -> str:
    milliseconds = (error["details"] or {}).get("retryAfterMs", 0)
    return str(max(RETRY_SECONDS[error["code"]], math.ceil(milliseconds / 1000)))


def as_json(value: Any) -> bytes:
    """Encode a JSON value; characters that UTF-8 can't encode are escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()
