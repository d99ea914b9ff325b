"""Processes that make calls, one fork of a prepared process each; any of them may be killed.

`python -m tests.writing.sequences.players HOME SOCKET` serves each connection from a process of its own.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from garden.application import Garden, open_garden
from tests.support.dying import Steps
from tests.writing.sequences.calls import Call

REPOSITORY = Path(__file__).parents[3]


class Player:
    """A process that makes calls; a new one takes its place after it was killed."""

    def __init__(self, address: Path) -> None:
        self._address = address
        self._stream: TextIO | None = None

    def send(self, user_id: str, call: Call) -> None:
        """Begin a call."""
        if self._stream is None:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(self._address))
                self._stream = connection.makefile("rw")
        request = {
            "session": [user_id, call.actor],
            "transaction": call.transaction,
            "call": [call.tool, call.request],
            "dies_before": call.dies_before,
        }
        self._stream.write(json.dumps(request) + "\n")
        self._stream.flush()

    def answer(self) -> dict[str, Any] | None:
        """Wait for the answer; None if the process was killed."""
        assert self._stream is not None
        line = self._stream.readline()
        if not line:
            self.leave()
            return None
        answer: dict[str, Any] = json.loads(line)
        return answer

    def leave(self) -> None:
        """End the process."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


@contextmanager
def players_in(home: Path, count: int) -> Iterator[list[Player]]:
    """Some players in one garden home."""
    address = home.parent / "players"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.writing.sequences.players", home, address],
        cwd=REPOSITORY,
        env={name: value for name, value in os.environ.items() if not name.startswith("GARDEN_")},
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    players = [Player(address) for _ in range(count)]
    with process:
        yield players
        for player in players:
            player.leave()
        process.terminate()


def main(home: str, address: str) -> None:
    """Fork a process for every connection."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                with suppress(BrokenPipeError):
                    _play(home, connection)
                os._exit(0)
            connection.close()


def _play(home: str, connection: socket.socket) -> None:
    with connection.makefile("rw") as stream, open_garden(home) as garden:
        for line in stream:
            stream.write(json.dumps(_call(garden, json.loads(line))) + "\n")
            stream.flush()


def _call(garden: Garden, request: dict[str, Any]) -> dict[str, Any]:
    user_id, actor = request["session"]
    session = garden.session(user_id, actor, role="maintainer", transaction_id=request["transaction"])
    if request["dies_before"] is None:
        return session.call(*request["call"])
    with Steps(request["dies_before"]) as steps:
        answer = session.call(*request["call"])
        steps.take("answer")
    return answer


if __name__ == "__main__":
    main(*sys.argv[1:])
