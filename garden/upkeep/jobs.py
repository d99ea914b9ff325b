"""The background jobs as messages: an actor for each job, of which a message says the name and nothing else.

What there is to do stands in the account and in the files, where every job looks for it. So a message may be
lost, be late, or come ten times over.
"""

from collections.abc import Callable, Iterable
from typing import Any

from dramatiq import Actor, Broker, actor
from dramatiq.middleware import AgeLimit, Middleware, Retries
from periodiq import PeriodiqMiddleware, cron

from garden.home.folder import Home
from garden.upkeep.broker import broker_at
from garden.upkeep.tasks import Job

JobActor = Actor[[], None]

_DAILY_SECONDS = 24 * 60 * 60
_DAILY = "0 3 * * *"


def queue_of(home: Home) -> str:
    """Name the queue of a home; several homes may share one broker."""
    return f"garden-{home.id}"


def job_broker(url: str) -> Broker:
    """Make the client of a broker that carries jobs."""
    # No time limit is among these: it strikes a thread between any two steps, in the midst of a write too.
    # How old a message may grow is said for each job; the scheduler's own limit is not to come before it.
    parts: list[Middleware] = [
        AgeLimit(), Retries(max_retries=0), PeriodiqMiddleware(skip_delay=_DAILY_SECONDS)
    ]  # fmt: skip
    return broker_at(url, parts)


def declare(
    broker: Broker, queue: str, jobs: Iterable[Job], perform: Callable[[Job], None]
) -> list[JobActor]:
    """Make an actor for each job, which has it performed."""
    return [_actor(broker, queue, job, perform) for job in jobs]


def crontab(every_seconds: int) -> str:
    """Give the schedule that comes closest to so many seconds: from each minute to once a day."""
    minutes = max(1, every_seconds // 60)
    if minutes < 60:
        return f"*/{_divisor(minutes, 60)} * * * *"
    if every_seconds < _DAILY_SECONDS:
        return f"0 */{_divisor(minutes // 60, 24)} * * *"
    return _DAILY


def _actor(broker: Broker, queue: str, job: Job, perform: Callable[[Job], None]) -> JobActor:
    def run() -> None:
        perform(job)

    options = _options(job) if job.every_seconds else {}
    return actor(actor_name=job.name, queue_name=queue, broker=broker, **options)(run)


def _options(job: Job) -> dict[str, Any]:
    """Say when messages are due, and that the next one makes up for those that come too late."""
    age_seconds = max(job.every_seconds, 60)
    return {"max_age": age_seconds * 1000, "periodic": cron(crontab(job.every_seconds))}


def _divisor(wished: int, whole: int) -> int:
    return next(number for number in range(wished, 0, -1) if whole % number == 0)
