"""The services put together: surfaces that listen, on top of an open garden."""

from collections.abc import Callable
from dataclasses import dataclass

from garden.access.threads import Workers
from garden.access.tokens import Bearer
from garden.application import Garden
from garden.events.records import Caller
from garden.grammar.errors import GardenError
from garden.surfaces.mcp.http import McpEndpoint
from garden.surfaces.web.application import WebService
from garden.surfaces.web.authentication import Door, OneUserDoor, TokenDoor, is_loopback
from garden.surfaces.web.server import listen, run
from garden.upkeep.tasks import Timer, jobs


class NotServedError(GardenError):
    """The service would be open to those it is not for."""

    code = "permission_denied"


@dataclass(frozen=True)
class Address:
    """Where the service listens."""

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
    """Serve everybody who has a token, or one caller without, until the process is told to stop.

    `started` is told the address, and whether anybody can call.
    """
    has_tokens = garden.tokens.any()
    if not address.is_private:
        _check_guarded(address, caller, has_tokens=has_tokens)
    listener = listen(address.host, address.port)
    here = Address(address.host, listener.getsockname()[1])
    door = _door(garden, caller)
    upkeep = Timer(garden.services, jobs(garden.settings.upkeep).values())
    limits = garden.settings.serve
    # One for both surfaces, or a user's calls over the one would not count among those over the other.
    workers = Workers(limits.threads, limits.waiting_calls, limits.user_calls)
    mounts = {"/mcp": McpEndpoint(garden, workers)}
    service = WebService(garden, workers, door, mounts, upkeep, private=address.is_private)
    try:
        can_be_called = caller is not None or has_tokens
        upkeep.start()
        run(service, limits, listener, lambda: started(here.url, can_be_called))
    finally:
        listener.close()
        workers.close()
        service.close()
        upkeep.close()
        door.close()


def _check_guarded(address: Address, caller: Caller | None, *, has_tokens: bool) -> None:
    if caller is not None:
        raise NotServedError(
            f"Without tokens nothing is served on {address.host}, where others could call.",
            hint="Listen on 127.0.0.1; or leave --user out, and give everybody a token: garden token create.",
        )
    if not has_tokens:
        raise NotServedError(
            f"Nothing is served on {address.host} before there is a token to call with.",
            hint="Make one with 'garden token create', or listen on 127.0.0.1.",
        )


def _door(garden: Garden, caller: Caller | None) -> Door:
    if caller is not None:
        return OneUserDoor(caller)
    return TokenDoor(lambda secret: _caller_of(garden.tokens.check(secret)))


def _caller_of(bearer: Bearer) -> Caller:
    return Caller(bearer.user_id, bearer.actor, bearer.role)
