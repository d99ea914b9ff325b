"""The witness: a process that records requests and answers, and uses no part of the product.

    python -m tests.crash.witness SOCKET LEDGER

A writer reports each request before it sends it, and each answer after it arrives; every time it waits until
the report is on the disk. Only answers in the ledger count as acknowledged. An editor reports the hash of
each save beforehand, so that nothing else counts as a person's edit. The witness is never killed, and ends
when its standard input does.

It also remembers the unanswered requests of each client, for the client's next process.
"""

import json
import os
import selectors
import socket
import sys
from dataclasses import dataclass, field
from typing import Any

OPEN = "open"
_ENDS = {"acknowledged", "refused", "left"}


@dataclass
class _Talk:
    """A connection, and the incomplete line received last."""

    line: socket.socket
    rest: bytes = b""

    def lines(self) -> list[bytes] | None:
        """Return the complete lines; None where the client is gone."""
        try:
            came = self.line.recv(1 << 16)
        except ConnectionError:
            return None
        if not came:
            return None
        *whole, self.rest = (self.rest + came).split(b"\n")
        return whole


@dataclass
class Witness:
    """The ledger, and the unanswered requests of each client."""

    ledger: int
    unanswered: dict[str, dict[str, Any]] = field(default_factory=dict)

    def hear(self, told: list[tuple[_Talk, bytes]]) -> None:
        """Sync the reports to the ledger, then confirm them."""
        words = [(talk, line, json.loads(line)) for talk, line in told]
        kept = b"".join(line + b"\n" for _, line, word in words if word["what"] != OPEN)
        if kept:
            os.write(self.ledger, kept)
            os.fsync(self.ledger)
        for talk, _, word in words:
            _say(talk.line, self._answer(word))

    def _answer(self, word: dict[str, Any]) -> Any:
        mine = self.unanswered.setdefault(word["by"], {})
        if word["what"] == OPEN:
            return list(mine.values())
        if word["what"] == "asked":
            mine[word["request"]["key"]] = word["request"]
        elif word["what"] in _ENDS:
            mine.pop(word["key"], None)
        return True


def _say(line: socket.socket, answer: Any) -> None:
    try:
        line.sendall(json.dumps(answer).encode() + b"\n")
    except OSError:
        # The client was killed meanwhile; its report is recorded anyway.
        return


def main(address: str, path: str) -> None:
    witness = Witness(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
    with socket.socket(socket.AF_UNIX) as door, selectors.DefaultSelector() as ready:
        door.bind(address)
        door.listen(128)
        ready.register(door, selectors.EVENT_READ)
        ready.register(sys.stdin.fileno(), selectors.EVENT_READ)
        print("ready", flush=True)
        while _listen(witness, door, ready):
            pass


def _listen(witness: Witness, door: socket.socket, ready: selectors.BaseSelector) -> bool:
    told: list[tuple[_Talk, bytes]] = []
    for key, _ in ready.select():
        if key.fileobj is door:
            line, _ = door.accept()
            ready.register(line, selectors.EVENT_READ, _Talk(line))
        elif key.data is None:
            return False
        else:
            lines = key.data.lines()
            if lines is None:
                ready.unregister(key.fileobj)
                key.data.line.close()
            told += [(key.data, line) for line in lines or ()]
    witness.hear(told)
    return True


if __name__ == "__main__":
    main(*sys.argv[1:])
