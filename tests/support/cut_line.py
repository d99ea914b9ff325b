"""A proxy that can be cut, repaired and frozen, for servers that a test must not stop."""

import socket
import threading
from contextlib import suppress

from tests.support.ports import free_port

_CHUNK_BYTES = 65536


class Line:
    """Forwards connections from its own port; once cut, it drops and refuses them."""

    def __init__(self, host: str, port: int) -> None:
        self.port = free_port()
        self._target = (host, port)
        self._ends: list[socket.socket] = []
        self._listener: socket.socket | None = None
        self._flows = threading.Event()
        self._flows.set()
        self.mend()

    def mend(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def cut(self) -> None:
        assert self._listener is not None
        # A thread that waits in accept() keeps the port until it wakes.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for end in self._ends:
            _drop(end)
        self._ends.clear()

    def freeze(self) -> None:
        """Keep the connections, and forward nothing."""
        self._flows.clear()

    def thaw(self) -> None:
        self._flows.set()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                here, _ = listener.accept()
                there = socket.create_connection(self._target)
            except OSError:
                return
            self._ends += [here, there]
            for source, sink in ((here, there), (there, here)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while chunk := source.recv(_CHUNK_BYTES):
                self._flows.wait()
                sink.sendall(chunk)
        _drop(source)
        _drop(sink)


def _drop(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
