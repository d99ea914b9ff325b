"""Ports for services whose own way to take any free one is not what a test is about."""

import socket


def free_port() -> int:
    """Give a port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
