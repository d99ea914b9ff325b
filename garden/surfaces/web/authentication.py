"""Who may call: whoever has a token, or the one user whom the service was started for."""

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
from garden.access.tokens import check_form
from garden.events.records import Caller
from garden.grammar.errors import GardenError
from garden.surfaces.web.problems import ForbiddenError, TokenRequiredError

# Beside the second that the tokens themselves keep an answer, this is how long a revoked one may be taken.
_KNOWN_SECONDS = 0.5
_KNOWN_MAX = 10_000
_CHECKS_WAITING_MAX = 128
_OWN_SITES = frozenset({"none", "same-origin"})

Check = Callable[[str], Caller]
"""Tells who a token speaks for, or raises what speaks against it; it may take its time."""


class Door(Protocol):
    """Decides who a request comes from."""

    async def admit(self, headers: Mapping[str, str]) -> Caller:
        """Give the caller, or refuse the request."""
        ...

    def inspect(self, headers: Mapping[str, str]) -> None:
        """Refuse a request that no well-meaning program sends, whoever it comes from."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


class TokenDoor:
    """Lets in whoever has a live token; who that is, is asked again twice a second.

    Whoever was let in before waits in a lane of their own, behind nobody who was not: however many strangers
    come with whatever they made up, they keep out one another and nobody else.
    """

    def __init__(self, check: Check) -> None:
        self._strangers = _Lane(check, "garden-token-new")
        self._regulars = _Lane(check, "garden-token")
        self._known: OrderedDict[bytes, tuple[float, Caller]] = OrderedDict()

    def inspect(self, headers: Mapping[str, str]) -> None:
        """Nothing is to be refused: a browser sends no token that it was not given for this."""

    async def admit(self, headers: Mapping[str, str]) -> Caller:
        """Give the caller whom the token speaks for."""
        secret = _bearer(headers.get("authorization"))
        # Tokens are not kept, not even here.
        digest = hashlib.sha256(secret.encode()).digest()
        checked_at, caller = self._known.get(digest, (0.0, None))
        if caller is not None and time.monotonic() - checked_at < _KNOWN_SECONDS:
            return caller
        try:
            caller = await (self._strangers if caller is None else self._regulars).ask(secret)
        except TokenRequiredError:
            self._known.pop(digest, None)
            raise
        self._known[digest] = time.monotonic(), caller
        self._known.move_to_end(digest)
        while len(self._known) > _KNOWN_MAX:
            self._known.popitem(last=False)
        return caller

    def close(self) -> None:
        """Let the threads go."""
        self._strangers.close()
        self._regulars.close()


class _Lane:
    """A thread in which tokens are checked one after the other, and those who wait for it."""

    def __init__(self, check: Check, name: str) -> None:
        self._check = check
        # Of its own, so that whoever has no token can't take the threads from those who have.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._waiting = 0

    async def ask(self, secret: str) -> Caller:
        if self._waiting >= _CHECKS_WAITING_MAX:
            raise OverloadedError("Too many tokens wait to be checked.", hint="Send it again in a moment.")
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


class OneUserDoor:
    """Takes every request for one user's; for a loopback address only, where all who call are that user.

    Web pages that the user looks at are on this side of a loopback address as well. Their requests bear the
    name of another host, that of another origin, or the browser's word that they come from another site, and
    are refused: even a page that can't read an answer learns from its status what there is.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def inspect(self, headers: Mapping[str, str]) -> None:
        """Refuse what comes from a web page."""
        host = headers.get("host", "")
        if not is_loopback(_name_in(f"//{host}")):
            raise ForbiddenError(
                "This service answers under the name of this machine only.",
                hint="Call it as 127.0.0.1, localhost or [::1].",
            )
        origin = headers.get("origin")
        is_from_elsewhere = headers.get("sec-fetch-site", "none") not in _OWN_SITES
        if is_from_elsewhere or (origin is not None and origin != f"http://{host}"):
            raise ForbiddenError(
                "This service takes no requests from web pages.", hint="Start it with tokens instead."
            )

    async def admit(self, headers: Mapping[str, str]) -> Caller:  # noqa: ARG002 - as every door
        """Give the one user."""
        return self._caller

    def close(self) -> None:
        """Nothing is held."""


async def is_still_welcome(door: Door, headers: Mapping[str, str]) -> bool:
    """Whether who was let in would be let in again; where nobody can tell, they are."""
    try:
        await door.admit(headers)
    except TokenRequiredError:
        return False
    except GardenError:
        return True
    return True


def _bearer(header: str | None) -> str:
    scheme, _, secret = (header or "").partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret:
        raise TokenRequiredError(
            "A token is needed.",
            hint="Send the header Authorization: Bearer <token>; 'garden token create' makes one.",
        )
    try:
        # Before it takes anybody's place in a queue.
        check_form(secret)
    except GardenError as error:
        raise TokenRequiredError(error.message, hint=error.hint) from None
    return secret


def is_loopback(host: str) -> bool:
    """Whether this names the machine itself, so that nobody else can reach it there."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name_in(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
