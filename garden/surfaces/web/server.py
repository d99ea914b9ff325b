"""The server: it listens, runs the application, and finishes the requests under way before it stops."""

import asyncio
import ctypes
import errno
import gc
import logging
import os
import resource
import signal
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
import uvloop

from garden.gateway.processes import RETIRE, ServiceProcess
from garden.grammar.errors import GardenError
from garden.home.settings import Serve
from garden.surfaces.web.application import WebService
from garden.surfaces.web.connections import CONNECTIONS, bounded_protocol

# A computing thread yields to the event loop after this time. With several busy threads, Python's own five
# milliseconds add up to most of a request's time.
_SWITCH_SECONDS = 0.0005
# Python's own garbage collection after every 700 new objects takes a seventh of the time under load and
# pauses every thread. A request's objects form no cycles, so they are freed without it.
_COLLECT_AFTER_OBJECTS = (10_000, 20, 20)
_BACKLOG = 1024
# So long is a new connection left to the processes that have fewer.
_OFFER_SECONDS = 0.01
_UNREAD_SECONDS_MAX = 30
# Beside one for each connection: a request may be forwarded, and the database has files and sockets, too.
_OTHER_FILES = 512
# glibc raises its threshold when a large block is freed, and keeps later ones in its heap. Setting it ends
# that.
_M_MMAP_THRESHOLD, _LARGE_BYTES = -3, 128 * 1024
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


def listen_on_socket(path: Path) -> socket.socket:
    """Listen on a Unix socket, which only the account that made it may use."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        if path.is_socket() and not _is_answered(path):
            # A killed service left it.
            path.unlink()
        mask = os.umask(0o177)
        try:
            listener.bind(str(path))
        finally:
            os.umask(mask)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise CannotListenError(
            f"The service can't listen on {path}: {_reason(error) or error}.",
            hint="Name a new file with --socket, by a path of at most 100 bytes.",
        ) from None
    return listener


def remove_socket(path: Path) -> None:
    """Remove the file of a socket, unless another service has taken it over meanwhile."""
    if not _is_answered(path):
        path.unlink(missing_ok=True)


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


def _give_memory_back() -> None:
    """Let large blocks go back to the system as soon as they are freed; only glibc keeps them otherwise."""
    with suppress(AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)


def make_room(connections: int) -> int:
    """Raise the limit of open files for so many connections; return how many of them fit below it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = 2 * connections + _OTHER_FILES
    files = files if hard == resource.RLIM_INFINITY else min(files, hard)
    if soft != resource.RLIM_INFINITY and soft < files:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
        except (ValueError, OSError):
            # macOS allows fewer than its hard limit says.
            files = soft
    return max(1, (files - _OTHER_FILES) // 2)


def run(service: WebService, limits: Serve, listener: socket.socket, process: ServiceProcess) -> None:
    """Answer requests until a signal or the parent's word, then finish those under way."""
    # It warns of malformed requests, which are refused and counted here.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    sys.setswitchinterval(_SWITCH_SECONDS)
    _give_memory_back()
    limits = limits.model_copy(update={"connections": make_room(limits.connections)})
    config = uvicorn.Config(
        service.app, http=bounded_protocol(limits, process.counts), ws="none", lifespan="on", log_config=None,
        access_log=False, proxy_headers=False, server_header=False, timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=limits.grace_seconds, backlog=_BACKLOG,
        callback_notify=service.count, timeout_notify=0,
    )  # fmt: skip
    shared = process.folder
    sockets = [listener] if shared is None else [_listen_to_others(shared, process.number)]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_Server(config, service, process, listener).serve(sockets))


def _listen_to_others(folder: Path, number: int) -> socket.socket:
    """Listen for the requests that the other processes forward."""
    path = folder / f"{number}.sock"
    # A killed process leaves its socket to the next one of its number.
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    return listener


class _Server(uvicorn.Server):
    """A server that may share its listener with other processes, and then the connections evenly."""

    def __init__(
        self, config: uvicorn.Config, service: WebService, process: ServiceProcess, listener: socket.socket
    ) -> None:
        super().__init__(config)
        self._service, self._process, self._listener = service, process, listener

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.collect()
        # Objects made so far stay; garbage collection need not look through them again.
        gc.freeze()
        gc.set_threshold(*_COLLECT_AFTER_OBJECTS)
        loop, parent = asyncio.get_running_loop(), self._process.parent
        if parent is not None:
            loop.add_reader(parent, self._obey, parent)
            self._listener.setblocking(False)
            loop.add_reader(self._listener, self._offer)
        self._process.announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().remove_reader(self._listener)
        self._listener.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Handle the signals without raising them again: a requested stop is no failure."""
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, self._stop)
        yield

    def _obey(self, parent: socket.socket) -> None:
        asyncio.get_running_loop().remove_reader(parent)
        word = b""
        # At the end of the line, or a reset, the parent is gone, and this process goes, too.
        with suppress(OSError):
            word = parent.recv(1)
        if word == RETIRE:
            self.config.http_protocol_class.is_retiring = True  # type: ignore[attr-defined]
        if not self.should_exit:
            self._stop()

    def _stop(self) -> None:
        # A second signal stops without waiting.
        self.force_exit = self.should_exit
        self.should_exit = True
        self._service.stop()

    def _offer(self) -> None:
        """Accept a connection, or leave it to the others for a moment if this process has more than they."""
        counts, loop = self._process.counts, asyncio.get_running_loop()
        has_more = counts.own(CONNECTIONS) * self._process.count > counts.total(CONNECTIONS)
        if has_more or not self._accept():
            loop.remove_reader(self._listener)
            loop.call_later(_OFFER_SECONDS, self._offer_again)

    def _offer_again(self) -> None:
        if not self.should_exit:
            self._accept()
            asyncio.get_running_loop().add_reader(self._listener, self._offer)

    def _accept(self) -> bool:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            # Another process was faster, or there are too many connections.
            return False
        loop, tasks = asyncio.get_running_loop(), self.server_state.tasks
        protocol: Any = self.config.http_protocol_class
        make = partial(protocol, self.config, self.server_state, self.lifespan.state)
        accepting = loop.create_task(loop.connect_accepted_socket(make, connection))
        tasks.add(accepting)  # type: ignore[arg-type]
        accepting.add_done_callback(tasks.discard)
        return True
