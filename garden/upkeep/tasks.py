"""Upkeep: the jobs that look after all gardens of a home, as plain functions, and the timer that runs them.

Where work is to be done stands in Postgres and on the disk. Whoever runs a job, and however often, finds it
there; so a job that was not run, or run twice, does no harm.
"""

import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import structlog

from garden.grammar.errors import GardenError
from garden.home.settings import Upkeep as Intervals
from garden.upkeep.reconciliation import Reconciled, adopt, clear_strays, forget_expired, sweep
from garden.upkeep.seen import Seen
from garden.upkeep.status import users_of
from garden.writing.services import Services

Report = Counter[str]
"""How many of what came of a job."""

_LOG = "garden.upkeep"
_SOON_SECONDS = 600


@dataclass(frozen=True)
class Job:
    """Something to be done again and again; with 0 seconds between, never by itself.

    Its work comes in steps, each with a report, and may be left off after any of them. What nobody waits for
    after a crash is not done at the start.
    """

    name: str
    purpose: str
    every_seconds: int
    steps: Callable[[Services], Iterator[Report]]
    at_start: bool = True


def jobs(intervals: Intervals) -> Mapping[str, Job]:
    """List the jobs by their names; whoever runs them again and again keeps them, with what they remember."""
    stalled = timedelta(seconds=intervals.stalled_seconds)
    seen, findings = Seen(), _Findings()
    every = (
        Job(
            "sweep",
            "Ends changes that a crash left open.",
            intervals.sweep_seconds,
            lambda services: _told(sweep(services, stalled)),
        ),
        Job(
            "adopt",
            "Takes edits from outside into the account, and clears up behind killed writers.",
            intervals.adopt_seconds,
            lambda services: _adopt_all(services, seen, findings),
        ),
        Job(
            "forget",
            "Forgets requests past their time.",
            intervals.forget_seconds,
            lambda services: (Report(forgotten=count) for count in forget_expired(services)),
            at_start=False,
        ),
        Job("verify", "Checks every seal.", intervals.verify_seconds, _verify_all, at_start=False),
    )
    return {job.name: job for job in every}


def run_job(job: Job, services: Services, go_on: Callable[[], bool] = lambda: True) -> Report:
    """Run a job once, for as long as it may go on, and log what came of it, if anything did.

    What keeps it from being done counts among the outcomes, for it will be run again; a fault is raised.
    """
    started, report = time.monotonic(), Report()
    try:
        for step in job.steps(services):
            report += step
            if not go_on():
                break
    except GardenError as error:
        report["failed"] += 1
        _log(job, started, report).warning("a job could not be done", reason=error.message)
    except Exception:
        report["failed"] += 1
        _log(job, started, report).error("a job failed unexpectedly", exception=traceback.format_exc())
        raise
    else:
        if report:
            _log(job, started, report).info("a job was done")
    return report


class Timer:
    """Runs each job when it is due, for as long as it is open; one that takes long keeps no other waiting."""

    def __init__(self, services: Services, chosen: Iterable[Job]) -> None:
        self._services = services
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(job,), name=f"upkeep-{job.name}", daemon=True)
            for job in chosen
            if job.every_seconds
        ]
        self._totals: Counter[tuple[str, str]] = Counter()
        self._guard = threading.Lock()
        self.open_sagas = 0
        self.quarantined_sagas = 0

    @property
    def totals(self) -> Mapping[tuple[str, str], int]:
        """How often each job had each outcome, since the start."""
        with self._guard:
            return dict(self._totals)

    def start(self) -> None:
        """Begin, with what a crash may have left."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Finish the steps that are under way, and end."""
        self._stopping.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def _run(self, job: Job) -> None:
        # A service that is started anew every day is to check its seals as well.
        wait = 0 if job.at_start else min(job.every_seconds, _SOON_SECONDS)
        while not self._stopping.wait(wait):
            self._run_one(job)
            wait = job.every_seconds

    def _run_one(self, job: Job) -> None:
        try:
            report = run_job(job, self._services, lambda: not self._stopping.is_set())
        except Exception:  # noqa: BLE001 - the outermost edge of a thread, which has to go on
            report = Report(failed=1)
        self._count(job, report)
        try:
            self.open_sagas, self.quarantined_sagas = self._services.recoveries.counts()
        except GardenError:
            # Where the database is away they are what they were when last looked.
            pass
        except Exception:  # noqa: BLE001 - as above
            structlog.get_logger(_LOG).error(
                "open changes can't be counted", exception=traceback.format_exc()
            )

    def _count(self, job: Job, report: Report) -> None:
        with self._guard:
            self._totals.update({(job.name, outcome): count for outcome, count in report.items()})


def _log(job: Job, started: float, report: Report) -> structlog.stdlib.BoundLogger:
    took = round(time.monotonic() - started, 3)
    log: structlog.stdlib.BoundLogger = structlog.get_logger(_LOG).bind(
        job=job.name, took_seconds=took, **report
    )
    return log


class _Findings:
    """What a person was told of each document."""

    def __init__(self) -> None:
        self._told: dict[str, set[tuple[str, int, str, str]]] = {}

    @contextmanager
    def of(self, user_id: str) -> Iterator[Callable[[Reconciled], bool]]:
        """Tell, in one round over a user's documents, what the round before has not told of them."""
        before = self._told.get(user_id, set())
        now: set[tuple[str, int, str, str]] = set()

        def is_new(each: Reconciled) -> bool:
            finding = each.path, each.version, each.outcome, each.message
            now.add(finding)
            return finding not in before

        yield is_new
        self._told[user_id] = now


def _adopt_all(services: Services, seen: Seen, findings: _Findings) -> Iterator[Report]:
    for user_id in users_of(services):
        with findings.of(user_id) as is_new:
            yield from _told(adopt(services, user_id, seen=seen), is_new)
            yield from _told(clear_strays(services, user_id), is_new)
        # Where all is in step nothing was told, and whoever is to stop waits for a step.
        yield Report()


def _verify_all(services: Services) -> Iterator[Report]:
    for user_id in services.maintenance.users():
        verdict = services.verifier.check_user(user_id)
        for fault in verdict.faults:
            structlog.get_logger(_LOG).error(
                "the account is not as it was written", user=user_id, stream=fault.stream, fault=fault.message
            )
        yield Report(events=verdict.events, faults=len(verdict.faults))


def _told(
    done: Iterable[Reconciled], is_new: Callable[[Reconciled], bool] = lambda _: True
) -> Iterator[Report]:
    for each in done:
        if not each.is_well and is_new(each):
            structlog.get_logger(_LOG).warning(
                "a document needs a person", path=each.path, outcome=each.outcome, reason=each.message
            )
        yield Report({each.outcome: 1})
