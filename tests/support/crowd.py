"""Many real processes at once, each with its own open garden, and each may be killed.

A test talks to one process that has imported everything; that one forks a process for every job. A job is a
list of calls. All begin at the same moment, when the last of them is ready, and a job that says so is killed
before its so-many-th step, a step being any change of a file or of the event log.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from garden.application import open_garden
from garden.session import Session
from tests.support.dying import Steps
from tests.support.everything import import_all_for_calls

REPOSITORY = Path(__file__).parents[2]

Asked = tuple[str, dict[str, Any]]


@dataclass
class Job:
    """The calls of one process in order; `dies_before` counts steps from 0, those of `first` left out."""

    calls: Sequence[Asked]
    dies_before: int | None = None
    first: Sequence[Asked] = ()


@dataclass
class Done:
    """The outcome of a job: the envelopes, and the steps of a process that was not killed."""

    envelopes: list[dict[str, Any]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    killed: bool = False


class Crowd:
    """The test's connection to the process that forks the others."""

    def __init__(self, process: subprocess.Popen[str], home: Path) -> None:
        self._process = process
        self._home = home

    def run(self, jobs: Sequence[Job]) -> list[Done]:
        """Run all jobs at once."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"home": str(self._home), "jobs": [asdict(job) for job in jobs]}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return [Done(**each) for each in json.loads(self._process.stdout.readline())]

    def at(self, home: Path) -> "Crowd":
        """Use the same process for jobs in another home."""
        return Crowd(self._process, home)

    def call(self, *calls: Asked, dies_before: int | None = None, first: Sequence[Asked] = ()) -> Done:
        """Run one job."""
        return self.run([Job(calls, dies_before, first)])[0]


def ask(session: Session, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    """Call a tool; the name "transaction" stands for the session's own method."""
    return session.transaction(**args) if tool == "transaction" else session.call(tool, args)


def _is_no_setting(name: str) -> bool:
    return name.startswith("GARDEN_TEST_") or not name.startswith("GARDEN_")


_PORTABLE = """
from tests.support.portable import switch_off
switch_off()
from tests.support.crowd import main
main()
"""


@contextmanager
def crowd_in(home: Path, *, portable: bool = False) -> Iterator[Crowd]:
    program = ["-c", _PORTABLE] if portable else ["-m", "tests.support.crowd"]
    process = subprocess.Popen(
        [sys.executable, *program],
        cwd=REPOSITORY,
        # Settings come from the home alone: several tests may share the process.
        env={name: value for name, value in os.environ.items() if _is_no_setting(name)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield Crowd(process, home)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0


def main() -> None:
    import_all_for_calls()
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(_done(request["home"], request["jobs"])), flush=True)


def _done(home: str, jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ready, say_ready = os.pipe()
    wait, start = os.pipe()
    children = [_fork(home, job, (ready, say_ready, wait, start)) for job in jobs]
    os.close(say_ready)
    os.close(wait)
    for _ in jobs:
        os.read(ready, 1)
    os.close(ready)
    os.close(start)
    return [_told(child, told) for child, told in children]


def _fork(home: str, job: dict[str, Any], handles: tuple[int, int, int, int]) -> tuple[int, int]:
    told, tell = os.pipe()
    child = os.fork()
    if child:
        os.close(tell)
        return child, told
    try:
        _, say_ready, wait, start = handles
        os.close(start)
        # Keep a child's logs out of the answers.
        os.dup2(2, 1)
        _work(home, job, say_ready, wait, tell)
    finally:
        os._exit(1)


def _work(home: str, job: dict[str, Any], say_ready: int, wait: int, tell: int) -> None:
    with open_garden(home) as garden, os.fdopen(tell, "w") as out:
        session = garden.session("ada", "companion", role="maintainer")
        # Connect beforehand, so that all calls start together.
        session.call("events.query", {"limit": 1})
        for tool, args in job["first"]:
            ask(session, tool, args)
        os.write(say_ready, b"r")
        os.read(wait, 1)
        with Steps(job["dies_before"]) as steps:
            envelopes = [ask(session, tool, args) for tool, args in job["calls"]]
            steps.take("answer")
        json.dump({"envelopes": envelopes, "steps": steps.taken}, out)
    os._exit(0)


def _told(child: int, told: int) -> dict[str, Any]:
    with os.fdopen(told) as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if os.WIFEXITED(status) and text else {"killed": os.WIFSIGNALED(status)}


if __name__ == "__main__":
    main()
