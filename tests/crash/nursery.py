"""A process that has imported everything, and that forks victims: to start one costs next to nothing.

It kills them too, and keeps the number of a dead one until it has said how that one ended, so that no number
ever means another process. When its standard input ends it kills all who are left, and goes.
"""

import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.crash.broken_products import broken
from tests.crash.ledger import REPOSITORY
from tests.crash.victims import KINDS, Post


class Nursery:
    """The process, seen from whoever wants victims."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process = process
        self.log = log

    def start(self, kind: str, post: Post) -> int:
        """Start a victim; gives its number."""
        return int(self._ask({"start": kind, "post": asdict(post)}))

    def kill(self, victims: Sequence[int]) -> list[bool]:
        """Kill victims at once; tells of each whether it had lived until then."""
        return list(self._ask({"kill": list(victims)}))

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def nursery(log: Path, breakage: str | None = None) -> Iterator[Nursery]:
    """Have a nursery; with a breakage all its victims run a product that is broken in that way."""
    with (
        log.open("a") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "tests.crash.nursery", *([breakage] if breakage else [])],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdin is not None
        try:
            yield Nursery(process, log)
        finally:
            process.stdin.close()
            process.wait()


def main(breakage: str | None) -> None:
    alive: set[int] = set()
    with broken(breakage):
        for line in sys.stdin:
            request = json.loads(line)
            if "start" in request:
                victim = _fork(request["start"], Post.of(request["post"]))
                alive.add(victim)
                print(json.dumps(victim), flush=True)
            else:
                alive -= set(request["kill"])
                print(json.dumps(_killed(request["kill"])), flush=True)
        _killed(list(alive))


def _fork(kind: str, post: Post) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        KINDS[kind].live(post)
    except BaseException:  # noqa: BLE001 - the end of a process, which is told before
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(1)


def _killed(victims: list[int]) -> list[bool]:
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    return [os.WIFSIGNALED(os.waitpid(victim, 0)[1]) for victim in victims]


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
