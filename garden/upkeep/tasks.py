"""The background jobs as plain functions, and the timer that runs them.

Every job finds its work in Postgres and on the disk. So a job that is missed, or run twice, does no harm.
"""

import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any

from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.history.checkpoints import make_checkpoints
from garden.history.faults import Fault, Part
from garden.history.keeping import keep_texts
from garden.history.log_check import check_log
from garden.history.verification import verify_user
from garden.history.witnesses import cosign
from garden.home.logs import get_logger
from garden.home.settings import Upkeep as Intervals
from garden.passages.extraction import ANALYSIS
from garden.recall.backlog import passage_counts
from garden.recall.rebuilding import rebuild
from garden.recall.recall import recall_of
from garden.upkeep.job_runs import note_run
from garden.upkeep.reconciliation import (
    Reconciliation,
    adopt,
    clear_strays,
    finish_erasures,
    forget_expired,
    sweep,
)
from garden.upkeep.seen import Seen
from garden.upkeep.status import known_users
from garden.writing.services import Services

JobCounts = Counter[str]
"""How often a job had each outcome."""

_LOG = "garden.upkeep"
_FIRST_WAIT_SECONDS_MAX = 600
_REST_SECONDS, _REST_SECONDS_MAX = 60.0, 3600.0
# How long a document rests that was refused at a version, and when that ends.
_Rests = dict[tuple[str, int], tuple[float, float]]


@dataclass(frozen=True)
class Job:
    """A repeated job; the timer never runs it if `every_seconds` is 0.

    It works in steps, each with its counts, and may stop after any step. A job that is not `at_start` waits
    before its first run, because a crash leaves it nothing urgent.
    """

    name: str
    every_seconds: int
    steps: Callable[[Services], Iterator[JobCounts]]
    at_start: bool = True


def jobs(intervals: Intervals) -> Mapping[str, Job]:
    """Jobs by name; a caller that repeats them must keep them, because they remember what they have seen."""
    stalled = timedelta(seconds=intervals.stalled_seconds)
    seen, logged, rests = Seen(), _LoggedFindings(), _Rests()
    every = (
        Job(
            "sweep",
            intervals.sweep_seconds,
            lambda services: _count(chain(sweep(services, stalled), finish_erasures(services))),
        ),
        Job("adopt", intervals.adopt_seconds, lambda services: _adopt_all(services, seen, logged)),
        Job(
            "forget",
            intervals.forget_seconds,
            lambda services: (JobCounts(forgotten=count) for count in forget_expired(services)),
            at_start=False,
        ),
        Job("verify", intervals.verify_seconds, _verify_all, at_start=False),
        Job("index", intervals.index_seconds, lambda services: _index_documents(services, rests)),
        Job(
            "keep",
            intervals.keep_seconds,
            lambda services: (JobCounts(kept=count) for count in keep_texts(services) if count),
        ),
        Job("embed", intervals.embed_seconds, _embed_passages, at_start=False),
        Job("checkpoint", intervals.checkpoint_seconds, _sign_checkpoint, at_start=False),
    )
    return {job.name: job for job in every}


def run_job(job: Job, services: Services, go_on: Callable[[], bool] = lambda: True) -> JobCounts:
    """Run a job once, until it ends or `go_on` is false, and log its counts unless there are none.

    A refusal counts as `failed`, because the job will be run again; an unexpected error is raised.
    """
    started, counts = time.monotonic(), JobCounts()
    try:
        for step in job.steps(services):
            counts += step
            if not go_on():
                break
    except GardenError as error:
        counts["failed"] += 1
        _log(job, started, counts).warning("job not done", reason=error.message)
    except Exception:
        counts["failed"] += 1
        _log(job, started, counts).error("job failed unexpectedly", exception=traceback.format_exc())
        raise
    else:
        if counts:
            _log(job, started, counts).info("job done")
    finally:
        note_run(services.home, job.name, round(time.monotonic() - started, 3), counts)
    return counts


class Timer:
    """Runs each job when it is due, in a thread of its own, so that a slow job delays no other."""

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
        """How often each job had each outcome since the start."""
        with self._guard:
            return dict(self._totals)

    def start(self) -> None:
        """Start every thread."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Finish the current step of every job, then stop."""
        self._stopping.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def _run(self, job: Job) -> None:
        # A service that restarts every day still verifies its seals.
        wait = 0 if job.at_start else min(job.every_seconds, _FIRST_WAIT_SECONDS_MAX)
        while not self._stopping.wait(wait):
            self._run_once(job)
            wait = job.every_seconds

    def _run_once(self, job: Job) -> None:
        try:
            counts = run_job(job, self._services, lambda: not self._stopping.is_set())
        except Exception:  # noqa: BLE001 - the outermost edge of a thread that must go on
            counts = JobCounts(failed=1)
        with self._guard:
            self._totals.update({(job.name, outcome): count for outcome, count in counts.items()})
        try:
            self.open_sagas, self.quarantined_sagas = self._services.recoveries.counts()
        except GardenError:
            # The database is away: keep the last numbers.
            pass
        except Exception:  # noqa: BLE001 - as above
            get_logger(_LOG).error("open sagas not counted", exception=traceback.format_exc())


def _log(job: Job, started: float, counts: JobCounts) -> Any:
    took = round(time.monotonic() - started, 3)
    return get_logger(_LOG).bind(job=job.name, took_seconds=took, **counts)


class _LoggedFindings:
    """The findings of the last round, so that each one is logged once."""

    def __init__(self) -> None:
        self._logged: dict[str, set[tuple[str, int, str, str]]] = {}

    @contextmanager
    def new_round(self, user_id: str) -> Iterator[Callable[[Reconciliation], bool]]:
        """Go over a user's documents once; the function given tells which findings are new."""
        before = self._logged.get(user_id, set())
        now: set[tuple[str, int, str, str]] = set()

        def is_new(each: Reconciliation) -> bool:
            finding = each.path, each.version, each.outcome, each.message
            now.add(finding)
            return finding not in before

        yield is_new
        self._logged[user_id] = now


def _adopt_all(services: Services, seen: Seen, logged: _LoggedFindings) -> Iterator[JobCounts]:
    for user_id in known_users(services):
        with logged.new_round(user_id) as is_new:
            yield from _count(adopt(services, user_id, seen=seen), is_new)
            yield from _count(clear_strays(services, user_id), is_new)
        # A step without counts, so that the job may stop after a user whose documents are all in step.
        yield JobCounts()


def _verify_all(services: Services) -> Iterator[JobCounts]:
    for user_id in services.maintenance.users():
        report = verify_user(services, user_id)
        # The other jobs record outside edits, and finish erasures.
        faults = [each for each in report.faults if each.part not in {Part.OUTSIDE, Part.UNFINISHED}]
        yield JobCounts(events=report.events, faults=_log_faults(faults, user_id))
    yield JobCounts(faults=_log_faults(list(check_log(services)), None))


def _log_faults(faults: Sequence[Fault], user_id: str | None) -> int:
    for fault in faults:
        get_logger(_LOG).error(
            "not as it was recorded",
            user=user_id,
            place=fault.place,
            fault=fault.message,
            hint=fault.hint,
        )
    return len(faults)


def _index_documents(services: Services, rests: _Rests) -> Iterator[JobCounts]:
    """A refused document rests longer each time, up to an hour, since the cause may last."""
    behind = services.passages.unindexed(None, ANALYSIS).items()
    for document in rests.keys() - behind:
        del rests[document]
    for document in behind:
        seconds, end = rests.get(document, (_REST_SECONDS, 0.0))
        if (now := time.monotonic()) >= end:
            done = rebuild(services, GardenPath(document[0]), services.recovery_path.store)
            if done.problem:
                rests[document] = min(2 * seconds, _REST_SECONDS_MAX), now + seconds
            yield JobCounts({"refused" if done.problem else "indexed": 1})


def _embed_passages(services: Services) -> Iterator[JobCounts]:
    recall = recall_of(services)
    for user_id in services.maintenance.users() if (name := recall.embedder_name) else ():
        while passage_counts(services, user_id, name)["waiting"] and (count := recall.embed_waiting(user_id)):
            yield JobCounts(embedded=count)


def _sign_checkpoint(services: Services) -> Iterator[JobCounts]:
    for count in make_checkpoints(services):
        yield JobCounts(logged=count)
    done = cosign(services)
    if done is not None and not done.is_reached:
        get_logger(_LOG).warning("checkpoint without its quorum of witnesses", reason=" ".join(done.problems))
        yield JobCounts(unwitnessed=1)


def _count(
    done: Iterable[Reconciliation], is_new: Callable[[Reconciliation], bool] = lambda _: True
) -> Iterator[JobCounts]:
    """Count each document's outcome, and log the documents that need a person."""
    for each in done:
        if not each.is_well and is_new(each):
            get_logger(_LOG).warning(
                "document needs a person", path=each.path, outcome=each.outcome, reason=each.message
            )
        yield JobCounts({each.outcome: 1})
