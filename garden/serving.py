"""The services put together: surfaces that listen, on top of an open garden."""

import fcntl
import os
import secrets
import socket
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from garden.application import Garden
from garden.events.records import Caller
from garden.gateway.access import TokenCaller
from garden.gateway.processes import ServiceProcess
from garden.gateway.threads import CallThreads
from garden.grammar.errors import GardenError
from garden.home.running import announced
from garden.home.settings import Settings
from garden.home.setup import PreparedHome
from garden.home.state_files import write_private_file
from garden.serving_processes import Processes, Run
from garden.surfaces.mcp.http import McpEndpoint
from garden.surfaces.web.application import WebService
from garden.surfaces.web.authentication import (
    Authenticator,
    SingleUserAuthenticator,
    TokenAuthenticator,
    is_loopback,
)
from garden.surfaces.web.console.door import Door
from garden.surfaces.web.server import listen, listen_on_socket, remove_socket, run
from garden.upkeep.tasks import Timer, jobs


class NotServedError(GardenError):
    """The service would be open to callers it is not for."""

    code = "permission_denied"


@dataclass(frozen=True)
class Address:
    """The address that the service listens on: a host and a port, or the path of a Unix socket."""

    host: str
    port: int | None

    @property
    def is_private(self) -> bool:
        """Whether only this machine can reach it."""
        return self.port is None or is_loopback(self.host)

    @property
    def private_url(self) -> str | None:
        """The address for the programs of this machine alone, if it is one that a browser can open."""
        return self.url if self.is_private and self.port is not None else None

    @property
    def url(self) -> str:
        """The address for a client."""
        if self.port is None:
            return self.host
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"


@dataclass(frozen=True)
class Offer:
    """What the command line asks for; the settings fill in what is None."""

    host: str | None = None
    port: int | None = None
    processes: int | None = None
    caller: Caller | None = None
    socket: Path | None = None
    is_open: bool = False


@dataclass(frozen=True)
class _Door:
    """The address, and its one caller with the service's token, or None for callers with tokens."""

    address: Address
    caller: Caller | None
    secret: str | None = field(default=None, repr=False)


def serve(
    prepare: Callable[[], tuple[Settings, PreparedHome]],
    offer: Offer,
    started: Callable[[str, bool, Path | None], None],
) -> None:
    """Serve every caller with a token, or one caller without tokens, until a signal stops the service.

    `started` gets the service's URL, whether any caller can reach it yet, and the file of the one caller's
    token. `prepare` is called again before the processes are exchanged.
    """
    settings, home = prepare()
    with Garden(settings, home).load() as garden:
        has_tokens = garden.tokens.has_live_token()
    port = settings.serve.port if offer.port is None else offer.port
    if offer.socket is not None:
        wished = Address(str(offer.socket.expanduser().absolute()), None)
    else:
        wished = Address(offer.host or settings.serve.host, port)
    if not wished.is_private:
        _check_not_open(wished, offer.caller, has_tokens=has_tokens)
    # On many cores, more would use up the connections of the embedded database.
    count = offer.processes or settings.serve.processes or min(os.cpu_count() or 1, 8)
    with _listen(wished) as (here, listener), _announced(home, here, offer):
        secret, token_file = None, None
        if offer.caller is not None and here.port is not None and not offer.is_open:
            secret = secrets.token_urlsafe(32)
            # Another service of the user has another port, and so another file.
            token_file = home.home.state / f"{offer.caller.user_id}-{here.port}.token"
            write_private_file(token_file, f"{secret}\n".encode())
        door = _Door(here, offer.caller, secret)

        def announce() -> None:
            started(here.url, offer.caller is not None or has_tokens, token_file)

        def prepare_run() -> Run:
            return partial(_answer, *prepare(), door, listener)

        if count > 1:
            # An open listener would let new clients wait for an answer that never comes.
            Processes(count, prepare_run, announce, listener.close).run()
        else:
            _answer(settings, home, door, listener, ServiceProcess(announce))


def _announced(home: PreparedHome, here: Address, offer: Offer) -> AbstractContextManager[None]:
    return announced(home.home, here.private_url, offer.caller.user_id if offer.caller else None)


@contextmanager
def _listen(wished: Address) -> Iterator[tuple[Address, socket.socket]]:
    """Listen while the block lasts; yields the address with its actual port."""
    if wished.port is not None:
        with listen(wished.host, wished.port) as listener:
            yield Address(wished.host, listener.getsockname()[1]), listener
        return
    with listen_on_socket(Path(wished.host)) as listener:
        try:
            yield wished, listener
        finally:
            listener.close()
            remove_socket(Path(wished.host))


def _answer(
    settings: Settings, home: PreparedHome, door: _Door, listener: socket.socket, process: ServiceProcess
) -> None:
    """Answer calls in this process until it is asked to stop."""
    with Garden(settings, home).load() as garden:
        authenticator = _make_authenticator(garden, door)
        upkeep = Timer(garden.services, jobs(settings.upkeep).values())
        limits = settings.serve
        # Both surfaces share the threads, so a user's calls over one count against those over the other.
        threads = CallThreads(limits.threads, limits.waiting_calls, limits.user_calls, process.counts)
        mounts = {"/mcp": McpEndpoint(garden, threads, process=process)}
        only_user = None if door.caller is None else door.caller.user_id
        names = _names(door.address, limits.hosts)
        pages = Door(names, only_user, is_private=door.address.is_private)
        service = WebService(garden, threads, authenticator, mounts, upkeep, process, pages)
        try:
            start_jobs(upkeep, process)
            run(service, limits, listener, process)
        finally:
            threads.close()
            service.close()
            upkeep.close()
            authenticator.close()


def start_jobs(upkeep: Timer, process: ServiceProcess) -> None:
    """Run the jobs here, at once or when the process that runs them has ended."""
    if process.folder is None:
        upkeep.start()
        return
    lock = process.folder / "jobs.lock"

    def start() -> None:
        # The kernel passes the lock on when this process ends.
        fcntl.flock(os.open(lock, os.O_RDWR | os.O_CREAT, 0o600), fcntl.LOCK_EX)
        upkeep.start()

    threading.Thread(target=start, name="upkeep-lock", daemon=True).start()


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


def _make_authenticator(garden: Garden, door: _Door) -> Authenticator:
    names = _names(door.address, garden.settings.serve.hosts)
    if door.caller is not None:
        return SingleUserAuthenticator(door.caller, door.secret, names)

    def check(secret: str) -> Caller:
        bearer = garden.tokens.check(secret)
        return TokenCaller(bearer.user_id, bearer.actor, bearer.role, policy=bearer.policy)

    return TokenAuthenticator(check, garden.tokens.ended, names)


def _names(address: Address, hosts: Collection[str]) -> set[str] | None:
    """Return the names that the service answers to besides the machine's own; None is any.

    A public address has names that only its clients know, and nothing of worth is there without a token.
    """
    is_any = "*" in hosts or not (hosts or address.is_private)
    return None if is_any else {address.host.lower(), *(each.lower() for each in hosts)}
