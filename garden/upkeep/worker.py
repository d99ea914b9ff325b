"""The worker: does the jobs that a broker's messages name, and the same ones by a timer."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from queue import SimpleQueue

import structlog
from dramatiq import Worker

from garden.home.folder import Home
from garden.upkeep.broker import BrokerUnavailableError, greet, speaking_to
from garden.upkeep.jobs import declare, job_broker, queue_of
from garden.upkeep.stop_signals import told_to_stop
from garden.upkeep.tasks import Job, Timer, jobs, run_job
from garden.writing.services import Services

_WAKE_MILLISECONDS = 200
# Jobs have been waited for by then; what is left is to tell the broker, which may be away.
_PARTING_MILLISECONDS = 5000


class Bench:
    """Where the jobs that messages ask for are done; whoever closes it waits for those under way."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._changed = threading.Condition()
        self._under_way = 0
        self._open = True

    def perform(self, job: Job) -> None:
        """Do a job; what keeps it from being done fails no message, for the next one will come."""
        self._count(1)
        try:
            run_job(job, self._services, lambda: self._open)
        finally:
            self._count(-1)

    def close(self) -> None:
        """Have jobs end after the step that is under way, and wait until they have."""
        self._open = False
        with self._changed:
            self._changed.wait_for(lambda: self._under_way == 0)

    def _count(self, number: int) -> None:
        with self._changed:
            self._under_way += number
            self._changed.notify_all()


def work(services: Services, home: Home, url: str, threads: int, started: Callable[[], None]) -> None:
    """Do jobs until the process is told to stop; the steps under way are finished."""
    told: SimpleQueue[None] = SimpleQueue()
    chosen = jobs(services.upkeep).values()
    bench, broker = Bench(services), job_broker(url)
    declare(broker, queue_of(home), chosen, bench.perform)
    worker = Worker(broker, worker_timeout=_WAKE_MILLISECONDS, worker_threads=threads)
    with told_to_stop(lambda: told.put(None)), closing(Timer(services, chosen)) as timer:
        _warn_if_away(url)
        with _at_work(worker, bench, url):
            timer.start()
            started()
            told.get()


@contextmanager
def _at_work(worker: Worker, bench: Bench, url: str) -> Iterator[None]:
    worker.start()
    try:
        yield
    finally:
        for thread in worker.workers:
            thread.stop()
        bench.close()
        # In a thread that nobody has to wait for: a broker that is silent would keep it for minutes.
        parting = threading.Thread(target=_part, args=(worker, url), daemon=True)
        parting.start()
        parting.join(2 * _PARTING_MILLISECONDS / 1000)
        bench.close()


def _part(worker: Worker, url: str) -> None:
    try:
        with speaking_to(url):
            worker.stop(timeout=_PARTING_MILLISECONDS)
            worker.broker.close()
    except BrokerUnavailableError as error:
        _log().warning("the worker parted without its broker", reason=error.message)


def _warn_if_away(url: str) -> None:
    try:
        greet(url)
    except BrokerUnavailableError as error:
        _log().warning("until the broker is back, jobs are done by the timer alone", reason=error.message)


def _log() -> structlog.stdlib.BoundLogger:
    log: structlog.stdlib.BoundLogger = structlog.get_logger("garden.worker")
    return log
