"""Refusals as they travel over HTTP: problem+json that also is the envelope."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from fastapi import Response

from garden.access.dispatcher import Envelope, refusal
from garden.grammar.errors import GardenError
from garden.surfaces.web.statuses import RETRY_SECONDS, STATUSES
from garden.tools.error_codes import CODES

PROBLEM = "application/problem+json"
_TYPES = "urn:memory-garden:error:"


class HttpError(GardenError):
    """A request that is refused for what it is in HTTP, with a status of its own."""

    status: ClassVar[int] = 400

    @property
    def headers(self) -> dict[str, str]:
        """What the answer says beside the problem."""
        return {}


class NotAcceptedError(HttpError):
    """A request that says something that can't be so."""

    code = "invalid_input"


class TokenRequiredError(HttpError):
    """Nobody knows who calls."""

    code = "permission_denied"
    status = 401

    @property
    def headers(self) -> dict[str, str]:
        """How to say who calls."""
        return {"WWW-Authenticate": 'Bearer realm="memory-garden"'}


class ForbiddenError(HttpError):
    """The one who calls may not do this."""

    code = "permission_denied"
    status = 403


class NothingHereError(HttpError):
    """There is nothing at this address."""

    code = "not_found"
    status = 404


class TooLateError(HttpError):
    """The request did not arrive in the time it has."""

    code = "invalid_input"
    status = 408

    @property
    def headers(self) -> dict[str, str]:
        """That there is no use in sending the rest."""
        return {"Connection": "close"}


class BodyTooLargeError(HttpError):
    """The body is larger than any call needs."""

    code = "too_large"
    status = 413

    @property
    def headers(self) -> dict[str, str]:
        """That there is no use in sending the rest."""
        return {"Connection": "close"}


class HeadTooLargeError(HttpError):
    """The head of the request is longer than any needs to be."""

    code = "too_large"
    status = 431


class MediaTypeError(HttpError):
    """The body is in no form that is read here."""

    code = "invalid_input"
    status = 415


class MethodError(HttpError):
    """There is something at this address, but not for this method."""

    code = "invalid_input"
    status = 405

    def __init__(self, allowed: Sequence[str]) -> None:
        super().__init__("This method is not for this address.", hint=f"Use {' or '.join(allowed)}.")
        self._allowed = ", ".join(allowed)

    @property
    def headers(self) -> dict[str, str]:
        """Which methods there are."""
        return {"Allow": self._allowed}


def status_of(error: GardenError) -> int:
    """Give the status that goes with an error."""
    return error.status if isinstance(error, HttpError) else STATUSES[error.code]


def problem(error: GardenError) -> Response:
    """Answer with an error."""
    return refused(refusal(error), status_of(error), error.headers if isinstance(error, HttpError) else {})


def refused(
    envelope: Envelope, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer with an envelope that says no."""
    error = envelope["error"]
    status = STATUSES[error["code"]] if status is None else status
    said = {
        "type": f"{_TYPES}{error['code']}",
        "title": CODES[error["code"]].meaning,
        "status": status,
        "detail": error["message"],
        **envelope,
    }
    waiting = {"Retry-After": str(RETRY_SECONDS[error["code"]])} if error["code"] in RETRY_SECONDS else {}
    return Response(as_json(said), status, {**waiting, **(headers or {})}, PROBLEM)


def as_json(value: Any) -> bytes:
    """Write a JSON value; what UTF-8 has no bytes for is escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()
