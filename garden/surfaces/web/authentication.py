"""Who may call: the owners of live tokens, or the one user that the service was started for."""

import asyncio
import hashlib
import hmac
import ipaddress
import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

from garden.events.records import Caller
from garden.events.tokens import TokenName
from garden.gateway.threads import OverloadedError
from garden.gateway.tokens import parse_token
from garden.grammar.errors import GardenError
from garden.home.logs import get_logger
from garden.surfaces.web.problems import ForbiddenError, TokenRequiredError

# A token is accepted for this long after it was looked up, even if it was revoked since.
_KNOWN_SECONDS = 1.0
_WATCH_SECONDS = 0.5
_KNOWN_MAX = 10_000
_CHECKS_WAITING_MAX = 128
_OWN_HINT = (
    "Send the header Authorization: Bearer <token>; at its start the service names the file that has it."
)
_OWN_SITES = frozenset({"none", "same-origin"})

_Result = TypeVar("_Result")

CheckToken = Callable[[str], Caller]
"""Returns the caller of a token, or raises the reason against it; it may block."""
ParseToken = Callable[[str], TokenName]
"""Returns the user and the id in a token's text, or refuses a malformed one; no lookup is made."""
FindEnded = Callable[[set[TokenName]], set[TokenName]]
"""Returns those of some tokens that are no longer accepted; it may block."""


class Authenticator(Protocol):
    """Decides who sent a request."""

    async def authenticate(self, headers: Mapping[str, str]) -> Caller:
        """Return the caller, or refuse the request."""
        ...

    def inspect(self, headers: Mapping[str, str]) -> None:
        """Refuse a request that only a hostile web page sends."""
        ...

    def watch(self, headers: Mapping[str, str], end: Callable[[], object]) -> AbstractContextManager[None]:
        """Call `end` when an authenticated caller's token ends while the block lasts."""
        ...

    def close(self) -> None:
        """End its threads."""
        ...


class TokenAuthenticator:
    """Takes requests with a live token; each token is looked up again after a second.

    Tokens seen before wait in a queue of their own, so a flood of invented tokens delays only other new ones.
    """

    def __init__(
        self,
        check: CheckToken,
        find_ended: FindEnded,
        names: Collection[str] | None = None,
        parse: ParseToken = parse_token,
        known_seconds: float = _KNOWN_SECONDS,
    ) -> None:
        self._check = check
        self._names = names
        self._parse = parse
        self._known_seconds = known_seconds
        self._find_ended = find_ended
        self._new = _CheckQueue("garden-token-new")
        self._seen = _CheckQueue("garden-token")
        self._known: dict[bytes, tuple[float, Caller]] = {}
        self._guard = threading.Lock()
        self._watched: dict[object, tuple[TokenName, Callable[[], object]]] = {}
        self._watching: asyncio.Task[None] | None = None

    def inspect(self, headers: Mapping[str, str]) -> None:
        """Refuse a request under another name: a page can't send a token, but can read what needs none."""
        if self._names is not None:
            check_host(headers, self._names)

    async def authenticate(self, headers: Mapping[str, str]) -> Caller:
        """Return the token's caller."""
        secret = _parsed_token(headers.get("authorization"), self._parse)
        # Memory holds digests, never tokens.
        digest = hashlib.sha256(secret.encode()).digest()
        asked_at, caller = self._known.get(digest, (0.0, None))
        if caller is not None and time.monotonic() - asked_at < self._known_seconds:
            return caller
        queue = self._new if caller is None else self._seen
        try:
            return await queue.run(partial(self._look_up, digest, secret))
        except GardenError as error:
            if error.code != "permission_denied":
                raise
            with self._guard:
                self._known.pop(digest, None)
            raise TokenRequiredError(error.message, hint=error.hint) from None

    async def exchange(self, work: Callable[[], str]) -> str:
        """Run the exchange of a secret for another in the thread that checks new ones."""
        return await self._new.run(work)

    def _look_up(self, digest: bytes, secret: str) -> Caller:
        now = time.monotonic()
        asked_at, caller = self._known.get(digest, (0.0, None))
        # Another request of the token may have looked it up while this one waited for the thread.
        if caller is None or now - asked_at >= self._known_seconds:
            caller = self._check(secret)
            with self._guard:
                self._known.pop(digest, None)
                self._known[digest] = now, caller
                if len(self._known) > _KNOWN_MAX:
                    del self._known[next(iter(self._known))]
        return caller

    @contextmanager
    def watch(self, headers: Mapping[str, str], end: Callable[[], object]) -> Iterator[None]:
        """Call `end` when the token ends while the block lasts."""
        key = object()
        self._watched[key] = self._parse(_parsed_token(headers.get("authorization"), self._parse)), end
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._end_watched())
        try:
            yield
        finally:
            del self._watched[key]

    async def _end_watched(self) -> None:
        while self._watched:
            await asyncio.sleep(_WATCH_SECONDS)
            tokens = {token for token, _ in self._watched.values()}
            try:
                ended = await self._seen.run(partial(self._find_ended, tokens))
            except GardenError:
                # While the database is away, nothing is known to have ended.
                continue
            except Exception:  # noqa: BLE001 - the tokens of open streams must stay watched
                fault = traceback.format_exc()
                get_logger("garden.web").error("ended tokens were not looked up", exception=fault)
                continue
            for token, end in list(self._watched.values()):
                if token in ended:
                    end()

    def close(self) -> None:
        """End the threads."""
        self._new.close()
        self._seen.close()


class _CheckQueue:
    """A thread that checks tokens one after the other, and a bounded number of waiting requests."""

    def __init__(self, name: str) -> None:
        # Its own thread, so that requests without a token can't take threads from calls.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._waiting = 0

    async def run(self, work: Callable[[], _Result]) -> _Result:
        if self._waiting >= _CHECKS_WAITING_MAX:
            raise OverloadedError(
                "Too many tokens are waiting to be checked.", hint="Send it again in a moment."
            )
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        self._thread.shutdown()


class SingleUserAuthenticator:
    """Takes every request as one user's; for this machine only.

    The service's own token keeps the machine's other accounts out, unless they can't connect or are welcome.

    The user's browser reaches a loopback address too. Requests from web pages name another host or another
    origin, or the browser marks them as cross-site. They are refused: a status alone already tells a page
    which documents exist.
    """

    def __init__(
        self, caller: Caller, secret: str | None = None, names: Collection[str] | None = None
    ) -> None:
        self._caller = caller
        self._digest = None if secret is None else hashlib.sha256(secret.encode()).digest()
        self._names = names or ()

    def inspect(self, headers: Mapping[str, str]) -> None:
        """Refuse a request from a web page."""
        check_host(headers, self._names)
        host = headers.get("host", "")
        origin = headers.get("origin")
        is_from_elsewhere = headers.get("sec-fetch-site", "none") not in _OWN_SITES
        if is_from_elsewhere or (origin is not None and origin != f"http://{host}"):
            raise ForbiddenError(
                "This service takes no requests from web pages.", hint="Start it with tokens instead."
            )

    def watch(
        self,
        headers: Mapping[str, str],  # noqa: ARG002 - the protocol's
        end: Callable[[], object],  # noqa: ARG002 - the protocol's
    ) -> AbstractContextManager[None]:
        """Do nothing: there is no token that could end."""
        return nullcontext()

    async def authenticate(self, headers: Mapping[str, str]) -> Caller:
        """Return the one user."""
        if self._digest is not None:
            digest = hashlib.sha256(_bearer_token(headers.get("authorization"), _OWN_HINT).encode()).digest()
            if not hmac.compare_digest(digest, self._digest):
                raise TokenRequiredError("This is not the service's token.", hint=_OWN_HINT)
        return self._caller

    def close(self) -> None:
        """Do nothing: it has no threads."""


def _bearer_token(header: str | None, hint: str) -> str:
    scheme, _, secret = (header or "").partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret:
        raise TokenRequiredError("This request needs a token.", hint=hint)
    return secret


def _parsed_token(header: str | None, parse: ParseToken) -> str:
    secret = _bearer_token(
        header, "Send the header Authorization: Bearer <token>; 'garden token create' makes one."
    )
    try:
        # A malformed token must take no place in a queue.
        parse(secret)
    except GardenError as error:
        raise TokenRequiredError(error.message, hint=error.hint) from None
    return secret


def check_host(headers: Mapping[str, str], names: Collection[str]) -> None:
    """Refuse a request that names another host, as a web page's does whose name was pointed here."""
    name = _name_in(f"//{headers.get('host', '')}")
    if not is_loopback(name) and name not in names:
        raise ForbiddenError(
            "This service does not answer under the name in the header Host.",
            hint="Call it by its address, or add the name to the setting serve.hosts.",
        )


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
