"""Processes that live for one job, record what they do, and may be killed before any step of it.

Forked from one that has imported everything, which is cheap.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from garden.application import Garden, open_garden
from garden.upkeep.reconciliation import reconcile
from tests.crash.power.effects import Effect
from tests.crash.power.recording import Recorder
from tests.support.disk_clock import date_files_ahead
from tests.support.everything import import_all_for_calls

REPOSITORY = Path(__file__).parents[3]
RECONCILE = "reconcile"

Asked = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Job:
    """The requests of one process and where it dies; `labels` name what is on the disk."""

    user: str
    calls: Sequence[Asked]
    labels: Mapping[int, str]
    dies_before: int | None = None
    left_out: str | None = None
    unable: tuple[str, ...] = ()
    first_number: int = 0


@dataclass
class ProcessRun:
    """How the process ended, and its effects."""

    effects: list[Effect] = field(default_factory=list)
    envelopes: list[dict[str, Any]] = field(default_factory=list)
    ended: str = ""


class Processes:
    """The process that forks the recorded ones."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def live(self, job: Job) -> ProcessRun:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(job)) + "\n")
        self._process.stdin.flush()
        life = ProcessRun()
        for line in self._process.stdout:
            [(what, told)] = json.loads(line).items()
            if what == "ended":
                life.ended = told
                return life
            if what == "effect":
                life.effects.append(Effect.of(told))
            else:
                life.envelopes.append(told)
        raise AssertionError("the process that forks the others has gone")


@contextmanager
def processes_in(home: Path) -> Iterator[Processes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.power.processes", str(home)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield Processes(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0


def main(home: str) -> None:
    import_all_for_calls()
    for line in sys.stdin:
        job = json.loads(line)
        labels = {int(number): label for number, label in job.pop("labels").items()}
        calls = [(tool, args) for tool, args in job.pop("calls")]
        unable = tuple(job.pop("unable"))
        _fork(home, Job(**job, labels=labels, calls=calls, unable=unable))


def _fork(home: str, job: Job) -> None:
    sys.stdout.flush()
    child = os.fork()
    if not child:
        try:
            # Keep a child's logs out of the answers.
            out = os.dup(1)
            os.dup2(2, 1)
            work(home, job, out)
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    ended = "killed" if os.WIFSIGNALED(status) else f"exit {os.waitstatus_to_exitcode(status)}"
    print(json.dumps({"ended": ended}), flush=True)


def work(home: str, job: Job, out: int) -> None:
    """Run a job, and record each effect after it happened."""
    write = os.write

    def tell(what: str, told: Any) -> None:
        left = memoryview((json.dumps({what: told}) + "\n").encode())
        while left:
            left = left[write(out, left) :]

    with open_garden(home) as garden:
        date_ahead(garden)
        recorder = Recorder(
            dict(job.labels),
            lambda effect: tell("effect", effect.as_told(job.user)),
            dies_before=job.dies_before,
            left_out=job.left_out,
            unable=job.unable,
            first_number=job.first_number,
        )
        with recorder:
            for tool, args in job.calls:
                envelope = _called(garden, job.user, tool, args)
                recorder.answer(tool)
                tell("envelope", envelope)


def date_ahead(garden: Garden) -> None:
    """Date events, and the times of files in them, an hour ahead.

    A power failure leaves files that are older than what the database kept; the harness writes them anew.
    """
    date_files_ahead(garden)
    for store in (garden.services.store, garden.services.recovery_path.store):
        store._now = lambda: datetime.now(UTC) + timedelta(hours=1)


def _called(garden: Garden, user: str, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    if tool == RECONCILE:
        each = list(reconcile(garden.services, [user]))
        return {
            "ok": all(one.is_well for one in each),
            "said": [f"{one.outcome}: {one.message}" for one in each],
        }
    return garden.session(user, "companion", role="maintainer").call(tool, args)


if __name__ == "__main__":
    main(sys.argv[1])
