"""The server: it listens, runs the application, and finishes the requests under way before it stops."""

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

# A computing thread yields to the event loop after this time. With several busy threads, Python's own five
# milliseconds add up to most of a request's time.
_SWITCH_SECONDS = 0.0005
# Python's own garbage collection after every 700 new objects takes a seventh of the time under load and
# pauses every thread. A request's objects form no cycles, so they are freed without it.
_COLLECT_AFTER_OBJECTS = (10_000, 20, 20)
_BACKLOG = 1024
_UNREAD_SECONDS_MAX = 30
_HINTS = {
    "host": "Name an address of this machine with --host, such as 127.0.0.1.",
    "port": "Choose another port with --port, or stop the program that listens there.",
}


class CannotListenError(GardenError):
    """The service can't listen on this address."""

    code = "unavailable"


def _reason(error: OSError) -> str | None:
    """Return the system's words, without the address that Python adds."""
    is_lookup = isinstance(error, socket.gaierror)
    return error.strerror if is_lookup or error.errno is None else os.strerror(error.errno)


def _is_about_host(error: OSError) -> bool:
    return isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL


def listen(host: str, port: int) -> socket.socket:
    """Listen on an address; from here on connections wait to be accepted."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise CannotListenError(
            f"The service can't listen on {host} port {port}: {_reason(error)}.",
            hint=_HINTS["host" if _is_about_host(error) else "port"],
        ) from None
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # A client that reads nothing of an answer for this long is taken for gone.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD_SECONDS_MAX * 1000)
    return listener


def run(service: WebService, limits: Serve, listener: socket.socket, started: Callable[[], None]) -> None:
    """Answer requests until a signal, then finish those under way."""
    # It warns of malformed requests, which are refused and counted here.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    sys.setswitchinterval(_SWITCH_SECONDS)
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
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.collect()
        # Objects made so far stay; garbage collection need not look through them again.
        gc.freeze()
        gc.set_threshold(*_COLLECT_AFTER_OBJECTS)
        self._started()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Handle the signals without raising them again: a requested stop is no failure."""
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, self._stop)
        yield

    def _stop(self) -> None:
        # A second signal stops without waiting.
        self.force_exit = self.should_exit
        self.should_exit = True
        self._service.stop()
