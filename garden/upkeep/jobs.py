"""The background jobs as broker messages: one dramatiq actor for each job.

A message holds a job's name and nothing else. The job finds its work in Postgres and on the disk, so a
message may be lost, late, or delivered ten times.
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


def queue_name(home: Home) -> str:
    """Name of a home's own queue; several homes may share a broker."""
    return f"garden-{home.id}"


def job_broker(url: str) -> Broker:
    """Client of a broker, with the middleware that jobs need."""
    # No time limit: dramatiq's interrupts a thread between any two instructions, even in a write. Each job
    # limits the age of its messages; the scheduler's own limit must not strike before that.
    parts: list[Middleware] = [
        AgeLimit(), Retries(max_retries=0), PeriodiqMiddleware(skip_delay=_DAILY_SECONDS)
    ]  # fmt: skip
    return broker_at(url, parts)


def declare(
    broker: Broker, queue: str, jobs: Iterable[Job], perform: Callable[[Job], None]
) -> list[JobActor]:
    """Declare an actor for each job; its messages call `perform`."""
    return [_declare_actor(broker, queue, job, perform) for job in jobs]


def crontab(every_seconds: int) -> str:
    """Crontab closest to an interval: once a minute at most, once a day at least."""
    minutes = max(1, every_seconds // 60)
    if minutes < 60:
        return f"*/{_largest_divisor(60, minutes)} * * * *"
    if every_seconds < _DAILY_SECONDS:
        return f"0 */{_largest_divisor(24, minutes // 60)} * * *"
    return _DAILY


def _declare_actor(broker: Broker, queue: str, job: Job, perform: Callable[[Job], None]) -> JobActor:
    def run() -> None:
        perform(job)

    options: dict[str, Any] = {}
    if job.every_seconds:
        # A message older than the interval is dropped: the next one makes up for it.
        age_seconds = max(job.every_seconds, 60)
        options = {"max_age": age_seconds * 1000, "periodic": cron(crontab(job.every_seconds))}
    return actor(actor_name=job.name, queue_name=queue, broker=broker, **options)(run)


def _largest_divisor(whole: int, at_most: int) -> int:
    return next(number for number in range(at_most, 0, -1) if whole % number == 0)
