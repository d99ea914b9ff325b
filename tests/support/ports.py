"""Ports for services whose own way to take any free one is not what a test is about."""

import random
import socket
from contextlib import suppress
from pathlib import Path

_LOWEST = 10_000
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """Give a port that nobody listens on at this moment.

    It is none of those that the system gives to whoever asks for any port or connects to somewhere: one of
    them could be somebody else's before the service listens, or while it is away for a moment.
    """
    given_to_anybody = int(_RANGE.read_text().split()[0]) if _RANGE.exists() else 32_768
    while True:
        port = random.randrange(_LOWEST, given_to_anybody)  # noqa: S311 - no secret
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
