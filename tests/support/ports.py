"""Free ports for services under test."""

import secrets
import socket
from contextlib import suppress
from pathlib import Path

_LOWEST, _HIGHEST = 10_000, 32_000
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """Return a port that is free at this moment.

    It lies below the range that the system hands out for port 0 and for outgoing connections: such a port
    could be taken before the service listens, or while it restarts.
    """
    while True:
        port = _LOWEST + secrets.randbelow(_lowest_ephemeral() - _LOWEST)
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


def _lowest_ephemeral() -> int:
    lowest = int(_RANGE.read_text().split()[0]) if _RANGE.exists() else _HIGHEST
    return lowest if lowest > _LOWEST else _HIGHEST
