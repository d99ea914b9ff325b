"""A process that has imported everything and forks targets, so that each starts at once.

It also kills them and collects their exit status, so that no pid is reused before the status is known. When
its standard input ends, it kills the remaining targets and exits.
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

from tests.crash.kill_breakages import broken
from tests.crash.ledger import REPOSITORY
from tests.crash.targets import KINDS, Assignment
from tests.support.everything import import_all_for_calls


class ProcessStarter:
    """The harness's connection to that process."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process = process
        self.log = log

    def start(self, kind: str, assignment: Assignment) -> int:
        """Start a target and return its pid."""
        return int(self._ask({"start": kind, "assignment": asdict(assignment)}))

    def kill(self, targets: Sequence[int]) -> list[bool]:
        """Kill targets at once; return for each whether it was alive."""
        return list(self._ask({"kill": list(targets)}))

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def process_starter(log: Path, breakage: str | None = None) -> Iterator[ProcessStarter]:
    """Run a process starter; with a breakage its targets run a product that is broken in that way."""
    with (
        log.open("a") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "tests.crash.process_starter", *([breakage] if breakage else [])],
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
            yield ProcessStarter(process, log)
        finally:
            process.stdin.close()
            process.wait()


def main(breakage: str | None) -> None:
    import_all_for_calls()
    alive: set[int] = set()
    with broken(breakage):
        for line in sys.stdin:
            request = json.loads(line)
            if "start" in request:
                target = _fork(request["start"], Assignment.of(request["assignment"]))
                alive.add(target)
                print(json.dumps(target), flush=True)
            else:
                alive -= set(request["kill"])
                print(json.dumps(_killed(request["kill"])), flush=True)
        _killed(list(alive))


def _fork(kind: str, assignment: Assignment) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        KINDS[kind].live(assignment)
    except BaseException:  # noqa: BLE001 - the process ends, and logs why
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(1)


def _killed(targets: list[int]) -> list[bool]:
    for target in targets:
        os.kill(target, signal.SIGKILL)
    return [os.WIFSIGNALED(os.waitpid(target, 0)[1]) for target in targets]


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
