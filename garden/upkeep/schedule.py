"""The scheduler: sends the message of each job when it is due."""

import signal
import traceback
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime
from queue import SimpleQueue

import structlog
from dramatiq import Broker
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from periodiq import Scheduler

from garden.home.folder import Home
from garden.home.settings import SettingsError, Upkeep
from garden.upkeep.broker import BrokerUnavailableError, speaking_to
from garden.upkeep.jobs import JobActor, declare, job_broker, queue_of
from garden.upkeep.stop_signals import told_to_stop
from garden.upkeep.tasks import Job, jobs

Started = Callable[[Sequence[JobActor]], None]


class Rounds(Scheduler):  # type: ignore[misc] # it comes without types
    """The scheduler of messages, which a broker that is away does not stop."""

    def __init__(self, broker: Broker, url: str, actors: Sequence[JobActor]) -> None:
        super().__init__(actors)
        # Signals put something into it, also while it is being read; only this kind of queue bears that.
        self.alarm_q: SimpleQueue[bool] = SimpleQueue()
        self._broker = broker
        self._url = url

    def send_actors(self, actors: Sequence[JobActor], now: datetime) -> None:
        """Send what is due; what can't be sent is found by a later message, or by a worker's timer."""
        try:
            with speaking_to(self._url):
                super().send_actors(actors, now)
        except BrokerUnavailableError as error:
            _log().warning("messages could not be sent", reason=error.message)
        except Exception:  # noqa: BLE001 - the outermost edge of the scheduler, which has to go on
            _log().error("sending messages failed unexpectedly", exception=traceback.format_exc())
        finally:
            self._let_go()

    def stop(self) -> None:
        """Have the loop end; a signal may call this."""
        self.alarm_q.put(False)

    def _let_go(self) -> None:
        if isinstance(self._broker, RabbitmqBroker):
            # Kept until the next round, it would be silent for longer than RabbitMQ puts up with.
            del self._broker.connection


def schedule(home: Home, url: str, intervals: Upkeep, started: Started) -> None:
    """Send messages until the process is told to stop."""
    with closing(job_broker(url)) as broker:
        actors = declare(broker, queue_of(home), _periodic(intervals), _not_here)
        rounds = Rounds(broker, url, actors)
        with told_to_stop(rounds.stop):
            started(actors)
            try:
                rounds.schedule()
                rounds.loop()
            finally:
                signal.alarm(0)


def _periodic(intervals: Upkeep) -> list[Job]:
    periodic = [job for job in jobs(intervals).values() if job.every_seconds]
    if not periodic:
        raise SettingsError(
            "There is nothing to schedule: every job's time is set to 0, which is never.",
            hint="Set one of those that 'garden config' lists as upkeep.",
        )
    return periodic


def _not_here(job: Job) -> None:
    raise NotImplementedError(job.name)


def _log() -> structlog.stdlib.BoundLogger:
    log: structlog.stdlib.BoundLogger = structlog.get_logger("garden.schedule")
    return log
