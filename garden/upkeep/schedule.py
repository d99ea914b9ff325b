"""The scheduler: sends each job's message when the job is due."""

import signal
import traceback
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime
from queue import SimpleQueue

from dramatiq import Broker
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from periodiq import Scheduler

from garden.home.folder import Home
from garden.home.logs import get_logger
from garden.home.settings import SettingsError, Upkeep
from garden.upkeep.broker import BrokerUnavailableError, translate_errors
from garden.upkeep.jobs import JobActor, declare, job_broker, queue_name
from garden.upkeep.stop_signals import on_stop_signal
from garden.upkeep.tasks import Job, jobs


class JobScheduler(Scheduler):  # type: ignore[misc] # periodiq has no types
    """A scheduler that goes on while its broker is away."""

    def __init__(self, broker: Broker, url: str, actors: Sequence[JobActor]) -> None:
        super().__init__(actors)
        # Signal handlers put into it, even while it is being read; only this kind of queue allows that.
        self.alarm_q: SimpleQueue[bool] = SimpleQueue()
        self._broker = broker
        self._url = url

    def send_actors(self, actors: Sequence[JobActor], now: datetime) -> None:
        """Send the messages that are due; a later message or a worker's timer makes up for a failure."""
        log = get_logger("garden.schedule")
        try:
            with translate_errors(self._url):
                super().send_actors(actors, now)
        except BrokerUnavailableError as error:
            log.warning("messages not sent", reason=error.message)
        except Exception:  # noqa: BLE001 - the outermost edge of a scheduler that must go on
            log.error("sending messages failed unexpectedly", exception=traceback.format_exc())
        finally:
            if isinstance(self._broker, RabbitmqBroker):
                # RabbitMQ gives up on a connection that is silent until the next round.
                del self._broker.connection

    def stop(self) -> None:
        """End the loop; a signal handler may call this."""
        self.alarm_q.put(False)


def schedule(home: Home, url: str, intervals: Upkeep, started: Callable[[Sequence[JobActor]], None]) -> None:
    """Send messages until a stop signal."""
    with closing(job_broker(url)) as broker:
        actors = declare(broker, queue_name(home), _periodic_jobs(intervals), _refuse_to_perform)
        scheduler = JobScheduler(broker, url, actors)
        with on_stop_signal(scheduler.stop):
            started(actors)
            try:
                scheduler.schedule()
                scheduler.loop()
            finally:
                signal.alarm(0)


def _periodic_jobs(intervals: Upkeep) -> list[Job]:
    periodic = [job for job in jobs(intervals).values() if job.every_seconds]
    if not periodic:
        raise SettingsError(
            "There is nothing to schedule: the interval of every job is 0, which means never.",
            hint="Set one of the upkeep intervals that 'garden config' lists.",
        )
    return periodic


def _refuse_to_perform(job: Job) -> None:
    raise NotImplementedError(job.name)
