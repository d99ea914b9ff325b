"""The services put together: surfaces that listen, on top of an open garden."""

from collections.abc import Callable
from dataclasses import dataclass

from garden.access.threads import CallThreads
from garden.application import Garden
from garden.events.records import Caller
from garden.grammar.errors import GardenError
from garden.surfaces.mcp.http import McpEndpoint
from garden.surfaces.web.application import WebService
from garden.surfaces.web.authentication import (
    Authenticator,
    SingleUserAuthenticator,
    TokenAuthenticator,
    is_loopback,
)
from garden.surfaces.web.server import listen, run
from garden.upkeep.tasks import Timer, jobs


class NotServedError(GardenError):
    """The service would be open to callers it is not for."""

    code = "permission_denied"


@dataclass(frozen=True)
class Address:
    """The address that the service listens on."""

    host: str
    port: int

    @property
    def is_private(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        """The address for a client."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"


def serve(
    garden: Garden, address: Address, caller: Caller | None, started: Callable[[str, bool], None]
) -> None:
    """Serve every caller with a token, or one caller without tokens, until a signal stops the process.

    `started` gets the service's URL, and whether any caller can reach it yet.
    """
    has_tokens = garden.tokens.has_live_token()
    if not address.is_private:
        _check_not_open(address, caller, has_tokens=has_tokens)
    listener = listen(address.host, address.port)
    here = Address(address.host, listener.getsockname()[1])
    authenticator = _make_authenticator(garden, caller)
    upkeep = Timer(garden.services, jobs(garden.settings.upkeep).values())
    limits = garden.settings.serve
    # Both surfaces share the threads, so a user's calls over one count against those over the other.
    threads = CallThreads(limits.threads, limits.waiting_calls, limits.user_calls)
    mounts = {"/mcp": McpEndpoint(garden, threads)}
    service = WebService(garden, threads, authenticator, mounts, upkeep, private=address.is_private)
    try:
        can_be_called = caller is not None or has_tokens
        upkeep.start()
        run(service, limits, listener, lambda: started(here.url, can_be_called))
    finally:
        listener.close()
        threads.close()
        service.close()
        upkeep.close()
        authenticator.close()


def _check_not_open(address: Address, caller: Caller | None, *, has_tokens: bool) -> None:
    if caller is not None:
        raise NotServedError(
            f"A service without tokens can't listen on {address.host}: other machines could call it.",
            hint="Listen on 127.0.0.1, or leave --user out and make tokens: garden token create.",
        )
    if not has_tokens:
        raise NotServedError(
            f"A service can't listen on {address.host} before a token exists.",
            hint="Make one with 'garden token create', or listen on 127.0.0.1.",
        )


def _make_authenticator(garden: Garden, caller: Caller | None) -> Authenticator:
    if caller is not None:
        return SingleUserAuthenticator(caller)

    def check(secret: str) -> Caller:
        bearer = garden.tokens.check(secret)
        return Caller(bearer.user_id, bearer.actor, bearer.role)

    return TokenAuthenticator(check)
