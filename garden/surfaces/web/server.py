"""The server: it listens, runs the application, and when told to stop finishes what has begun."""

import asyncio
import errno
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

import uvicorn
import uvloop

from garden.grammar.errors import GardenError
from garden.home.settings import Serve
from garden.surfaces.web.application import WebService
from garden.surfaces.web.connections import bounded_protocol

# A thread that computes lets the event loop have its turn after this time. Python's own five milliseconds add
# up to most of a request's time as soon as several threads are busy.
_TURN_SECONDS = 0.0005
# Looking for garbage after every 700 new objects, as Python does, takes a seventh of the time under load, and
# holds everybody up. What a request leaves goes without a search, for it does not refer to itself.
_SEARCH_AFTER_OBJECTS = (10_000, 20, 20)
_BACKLOG = 1024
_UNREAD_SECONDS_MAX = 30
_HINTS = {
    "host": "Name an address of this machine with --host, such as 127.0.0.1.",
    "port": "Choose another port with --port, or stop what listens there.",
}


class CannotListenError(GardenError):
    """The address can't be listened on."""

    code = "unavailable"


def _told(error: OSError) -> str | None:
    """Say what the system said, without the address that Python adds."""
    is_of_names = isinstance(error, socket.gaierror)
    return error.strerror if is_of_names or error.errno is None else os.strerror(error.errno)


def _is_of_the_host(error: OSError) -> bool:
    return isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL


def listen(host: str, port: int) -> socket.socket:
    """Take an address; from here on connections wait to be accepted."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise CannotListenError(
            f"{host} port {port} can't be listened on: {_told(error)}.",
            hint=_HINTS["host" if _is_of_the_host(error) else "port"],
        ) from None
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # Whoever takes nothing of an answer for so long is gone, or might as well be.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD_SECONDS_MAX * 1000)
    return listener


def run(service: WebService, limits: Serve, listener: socket.socket, started: Callable[[], None]) -> None:
    """Answer requests until the process is told to stop; what has begun is finished."""
    # Its warnings are of what strangers send, which is refused and counted like everything else.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    sys.setswitchinterval(_TURN_SECONDS)
    config = uvicorn.Config(
        service.app, http=bounded_protocol(limits), ws="none", lifespan="on", log_config=None,
        access_log=False, proxy_headers=False, server_header=False, timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=limits.grace_seconds, backlog=_BACKLOG,
    )  # fmt: skip
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_Server(config, service, started).serve([listener]))


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, service: WebService, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._service = service
        self._report = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.collect()
        # What there is by now stays, and need not be looked through again.
        gc.freeze()
        gc.set_threshold(*_SEARCH_AFTER_OBJECTS)
        self._report()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Take the signals without raising them again afterwards: to have been told to stop is no failure."""
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, self._stop)
        yield

    def _stop(self) -> None:
        # Who asks twice does not want to wait.
        self.force_exit = self.should_exit
        self.should_exit = True
        self._service.stop()
