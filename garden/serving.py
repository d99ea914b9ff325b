"""The services put together: surfaces that listen, on top of an open garden."""

import fcntl
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from garden.access.processes import ServiceProcess
from garden.access.threads import CallThreads
from garden.application import Garden
from garden.events.records import Caller
from garden.grammar.errors import GardenError
from garden.home.settings import Settings
from garden.home.setup import PreparedHome
from garden.serving_processes import Processes, Run
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


@dataclass(frozen=True)
class Offer:
    """What the command line asks for; the settings fill in what is None."""

    host: str | None = None
    port: int | None = None
    processes: int | None = None
    caller: Caller | None = None


def serve(
    prepare: Callable[[], tuple[Settings, PreparedHome]],
    offer: Offer,
    started: Callable[[str, bool], None],
) -> None:
    """Serve every caller with a token, or one caller without tokens, until a signal stops the service.

    `started` gets the service's URL, and whether any caller can reach it yet. `prepare` is called again
    before the processes are exchanged.
    """
    settings, home = prepare()
    with Garden(settings, home).load() as garden:
        has_tokens = garden.tokens.has_live_token()
    port = settings.serve.port if offer.port is None else offer.port
    wished = Address(offer.host or settings.serve.host, port)
    if not wished.is_private:
        _check_not_open(wished, offer.caller, has_tokens=has_tokens)
    # On many cores, more would use up the connections of the embedded database.
    count = offer.processes or settings.serve.processes or min(os.cpu_count() or 1, 8)
    with listen(wished.host, wished.port) as listener:
        here = Address(wished.host, listener.getsockname()[1])

        def announce() -> None:
            started(here.url, offer.caller is not None or has_tokens)

        def prepare_run() -> Run:
            return partial(_answer, *prepare(), here, offer.caller, listener)

        if count > 1:
            # An open listener would let new clients wait for an answer that never comes.
            Processes(count, prepare_run, announce, listener.close).run()
        else:
            _answer(settings, home, here, offer.caller, listener, ServiceProcess(announce))


def _answer(
    settings: Settings,
    home: PreparedHome,
    here: Address,
    caller: Caller | None,
    listener: socket.socket,
    process: ServiceProcess,
) -> None:
    """Answer calls in this process until it is asked to stop."""
    with Garden(settings, home).load() as garden:
        authenticator = _make_authenticator(garden, caller)
        upkeep = Timer(garden.services, jobs(settings.upkeep).values())
        limits = settings.serve
        # Both surfaces share the threads, so a user's calls over one count against those over the other.
        threads = CallThreads(limits.threads, limits.waiting_calls, limits.user_calls, process.counts)
        mounts = {"/mcp": McpEndpoint(garden, threads, process=process)}
        service = WebService(garden, threads, authenticator, mounts, upkeep, process, private=here.is_private)
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


def _make_authenticator(garden: Garden, caller: Caller | None) -> Authenticator:
    if caller is not None:
        return SingleUserAuthenticator(caller)

    def check(secret: str) -> Caller:
        bearer = garden.tokens.check(secret)
        return Caller(bearer.user_id, bearer.actor, bearer.role)

    return TokenAuthenticator(check, garden.tokens.ended)
