"""Who may call: the owners of live tokens, or the one user that the service was started for."""

import asyncio
import hashlib
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol
from urllib.parse import urlsplit

from garden.access.threads import OverloadedError
from garden.access.tokens import parse_token
from garden.events.records import Caller
from garden.grammar.errors import GardenError
from garden.surfaces.web.problems import ForbiddenError, TokenRequiredError

# A revoked token may live this long, plus the second for which the token store keeps its own answer.
_KNOWN_SECONDS = 0.5
_KNOWN_MAX = 10_000
_CHECKS_WAITING_MAX = 128
_OWN_SITES = frozenset({"none", "same-origin"})

CheckToken = Callable[[str], Caller]
"""Returns the caller of a token, or raises the reason against it; it may block."""


class Authenticator(Protocol):
    """Decides who sent a request."""

    async def authenticate(self, headers: Mapping[str, str]) -> Caller:
        """Return the caller, or refuse the request."""
        ...

    def inspect(self, headers: Mapping[str, str]) -> None:
        """Refuse a request that only a hostile web page sends."""
        ...

    def close(self) -> None:
        """End its threads."""
        ...


class TokenAuthenticator:
    """Takes requests with a live token; each token is checked again twice a second.

    Tokens seen before wait in a queue of their own, so a flood of invented tokens delays only other new ones.
    """

    def __init__(self, check: CheckToken) -> None:
        self._new = _CheckQueue(check, "garden-token-new")
        self._seen = _CheckQueue(check, "garden-token")
        self._known: OrderedDict[bytes, tuple[float, Caller]] = OrderedDict()

    def inspect(self, headers: Mapping[str, str]) -> None:
        """Refuse nothing: a web page has no token to send."""

    async def authenticate(self, headers: Mapping[str, str]) -> Caller:
        """Return the token's caller."""
        secret = _bearer_token(headers.get("authorization"))
        # Memory holds digests, never tokens.
        digest = hashlib.sha256(secret.encode()).digest()
        checked_at, caller = self._known.get(digest, (0.0, None))
        if caller is not None and time.monotonic() - checked_at < _KNOWN_SECONDS:
            return caller
        try:
            caller = await (self._new if caller is None else self._seen).check(secret)
        except TokenRequiredError:
            self._known.pop(digest, None)
            raise
        self._known[digest] = time.monotonic(), caller
        self._known.move_to_end(digest)
        while len(self._known) > _KNOWN_MAX:
            self._known.popitem(last=False)
        return caller

    def close(self) -> None:
        """End the threads."""
        self._new.close()
        self._seen.close()


class _CheckQueue:
    """A thread that checks tokens one after the other, and a bounded number of waiting requests."""

    def __init__(self, check: CheckToken, name: str) -> None:
        self._check = check
        # Its own thread, so that requests without a token can't take threads from calls.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._waiting = 0

    async def check(self, secret: str) -> Caller:
        if self._waiting >= _CHECKS_WAITING_MAX:
            raise OverloadedError(
                "Too many tokens are waiting to be checked.", hint="Send it again in a moment."
            )
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._check, secret)
        except GardenError as error:
            if error.code != "permission_denied":
                raise
            raise TokenRequiredError(error.message, hint=error.hint) from None
        finally:
            self._waiting -= 1

    def close(self) -> None:
        self._thread.shutdown()


class SingleUserAuthenticator:
    """Takes every request as one user's; for a loopback address only, where every caller is that user.

    The user's browser reaches a loopback address too. Requests from web pages name another host or another
    origin, or the browser marks them as cross-site. They are refused: a status alone already tells a page
    which documents exist.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def inspect(self, headers: Mapping[str, str]) -> None:
        """Refuse a request from a web page."""
        host = headers.get("host", "")
        if not is_loopback(_name_in(f"//{host}")):
            raise ForbiddenError(
                "This service answers only under this machine's own name.",
                hint="Call it as 127.0.0.1, localhost or [::1].",
            )
        origin = headers.get("origin")
        is_from_elsewhere = headers.get("sec-fetch-site", "none") not in _OWN_SITES
        if is_from_elsewhere or (origin is not None and origin != f"http://{host}"):
            raise ForbiddenError(
                "This service takes no requests from web pages.", hint="Start it with tokens instead."
            )

    async def authenticate(self, headers: Mapping[str, str]) -> Caller:  # noqa: ARG002 - the protocol's
        """Return the one user."""
        return self._caller

    def close(self) -> None:
        """Do nothing: it has no threads."""


async def is_still_allowed(authenticator: Authenticator, headers: Mapping[str, str]) -> bool:
    """Whether an authenticated caller's token is still live; yes if it can't be checked now."""
    try:
        await authenticator.authenticate(headers)
    except TokenRequiredError:
        return False
    except GardenError:
        return True
    return True


def _bearer_token(header: str | None) -> str:
    scheme, _, secret = (header or "").partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret:
        raise TokenRequiredError(
            "This request needs a token.",
            hint="Send the header Authorization: Bearer <token>; 'garden token create' makes one.",
        )
    try:
        # A malformed token must take no place in a queue.
        parse_token(secret)
    except GardenError as error:
        raise TokenRequiredError(error.message, hint=error.hint) from None
    return secret


def is_loopback(host: str) -> bool:
    """Whether this names the machine itself, which no other machine can reach."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name_in(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
