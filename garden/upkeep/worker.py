"""The worker: runs the jobs that a broker's messages name, and the same jobs by a timer."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from queue import SimpleQueue

from dramatiq import Worker

from garden.home.folder import Home
from garden.home.logs import get_logger
from garden.upkeep.broker import BrokerUnavailableError, greet, translate_errors
from garden.upkeep.jobs import declare, job_broker, queue_name
from garden.upkeep.stop_signals import on_stop_signal
from garden.upkeep.tasks import Job, Timer, jobs, run_job
from garden.writing.services import Services

_WAKE_MILLISECONDS = 200
# No job is running any more by then; only the broker remains to be told, and it may be away.
_PARTING_MILLISECONDS = 5000


class JobRunner:
    """Runs the jobs that messages ask for; closing it waits for those under way."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._changed = threading.Condition()
        self._running = 0
        self._open = True

    def perform(self, job: Job) -> None:
        """Run a job; a refusal does not fail the message, because the next one will come."""
        self._add(1)
        try:
            run_job(job, self._services, lambda: self._open)
        finally:
            self._add(-1)

    def close(self) -> None:
        """Stop every job after its current step, and wait until all have stopped."""
        self._open = False
        with self._changed:
            self._changed.wait_for(lambda: self._running == 0)

    def _add(self, number: int) -> None:
        with self._changed:
            self._running += number
            self._changed.notify_all()


def work(services: Services, home: Home, url: str, threads: int, started: Callable[[], None]) -> None:
    """Run jobs until a stop signal; the steps under way are finished."""
    signals: SimpleQueue[None] = SimpleQueue()
    chosen = jobs(services.upkeep).values()
    runner, broker = JobRunner(services), job_broker(url)
    declare(broker, queue_name(home), chosen, runner.perform)
    worker = Worker(broker, worker_timeout=_WAKE_MILLISECONDS, worker_threads=threads)
    with on_stop_signal(lambda: signals.put(None)), closing(Timer(services, chosen)) as timer:
        _warn_if_away(url)
        with _running(worker, runner, url):
            timer.start()
            started()
            signals.get()


@contextmanager
def _running(worker: Worker, runner: JobRunner, url: str) -> Iterator[None]:
    worker.start()
    try:
        yield
    finally:
        for thread in worker.workers:
            thread.stop()
        runner.close()
        # In a daemon thread: a silent broker would keep it for minutes.
        parting = threading.Thread(target=_part, args=(worker, url), daemon=True)
        parting.start()
        parting.join(2 * _PARTING_MILLISECONDS / 1000)
        runner.close()


def _part(worker: Worker, url: str) -> None:
    try:
        with translate_errors(url):
            worker.stop(timeout=_PARTING_MILLISECONDS)
            worker.broker.close()
    except BrokerUnavailableError as error:
        get_logger("garden.worker").warning("worker stopped without its broker", reason=error.message)


def _warn_if_away(url: str) -> None:
    try:
        greet(url)
    except BrokerUnavailableError as error:
        get_logger("garden.worker").warning("broker is away; only the timer runs jobs", reason=error.message)
