"""Job messages that are late, unknown, or whose job fails."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from threading import Event, Thread

import pytest
from dramatiq import Broker, Worker
from dramatiq.common import current_millis

from garden.application import Garden
from garden.events.idempotency import InProgressError
from garden.home.folder import Home, ensure_home
from garden.home.logs import configure_logs
from garden.upkeep.doctor import examine
from garden.upkeep.jobs import JobActor, declare, job_broker, queue_name
from garden.upkeep.tasks import Job, JobCounts, Timer
from garden.upkeep.worker import JobRunner
from garden.writing.services import Services
from tests.support.brokers import RealBroker
from tests.support.waiting import until

JOBS = [
    Job(name, seconds, lambda _: iter([JobCounts()])) for name, seconds in (("seldom", 600), ("never", 0))
]


@pytest.fixture
def client(broker: RealBroker) -> Iterator[Broker]:
    made = job_broker(broker.url)
    yield made
    made.close()


@pytest.fixture
def done() -> "Queue[str]":
    return Queue()


@contextmanager
def working(client: Broker) -> Iterator[None]:
    worker = Worker(client, worker_timeout=50, worker_threads=1)
    worker.start()
    try:
        yield
    finally:
        worker.stop()


def actors(client: Broker, home: Home, done: "Queue[str]") -> dict[str, JobActor]:
    return {
        each.actor_name: each
        for each in declare(client, queue_name(home), JOBS, lambda job: done.put(job.name))
    }


def test_a_message_too_old_is_dropped_and_the_next_one_done(
    ready_home: Home, broker: RealBroker, client: Broker, done: "Queue[str]"
) -> None:
    seldom = actors(client, ready_home, done)["seldom"]
    message = seldom.message()
    for age_seconds in (601, 0):
        client.enqueue(message.copy(message_timestamp=current_millis() - age_seconds * 1000))
    with working(client):
        assert done.get(timeout=60) == "seldom"
        until(lambda: broker.dead() == 1)
    assert done.empty()
    assert broker.waiting() == []


def test_a_message_runs_a_job_that_no_timer_runs(
    ready_home: Home, broker: RealBroker, client: Broker, done: "Queue[str]"
) -> None:
    never = actors(client, ready_home, done)["never"]
    client.enqueue(never.message().copy(message_timestamp=0))
    with working(client):
        assert done.get(timeout=60) == "never"
    assert broker.waiting() == []


def test_a_failing_job_is_not_retried_and_stops_no_other(
    ready_home: Home, broker: RealBroker, client: Broker
) -> None:
    begun: Queue[str] = Queue()

    def fail(job: Job) -> None:
        begun.put(job.name)
        raise RuntimeError

    seldom, never = declare(client, queue_name(ready_home), JOBS, fail)
    seldom.send()
    never.send()
    with working(client):
        assert [begun.get(timeout=60), begun.get(timeout=60)] == ["seldom", "never"]
        until(lambda: broker.dead() == 2)
    assert (begun.empty(), broker.waiting()) == (True, [])


def test_homes_that_share_a_broker_take_only_their_own_messages(
    ready_home: Home, broker: RealBroker, client: Broker, done: "Queue[str]", folder: Path
) -> None:
    other = queue_name(ensure_home(folder / "other"))
    theirs, ours = job_broker(broker.url), actors(client, ready_home, done)
    declare(theirs, other, JOBS, lambda job: done.put(f"{job.name} of the other home"))
    ours["seldom"].send()
    with working(theirs):
        theirs.get_actor("never").send()
        assert done.get(timeout=60) == "never of the other home"
    theirs.close()
    assert broker.waiting() == ["seldom"]
    broker.remove_queue(other)


def test_a_message_for_an_unknown_job_is_dropped(
    ready_home: Home, broker: RealBroker, client: Broker, done: "Queue[str]"
) -> None:
    seldom = actors(client, ready_home, done)["seldom"]
    client.enqueue(seldom.message().copy(actor_name="somebody-elses"))
    seldom.send()
    with working(client):
        assert done.get(timeout=60) == "seldom"
        until(lambda: broker.dead() == 1)


def test_closing_a_runner_waits_for_the_current_step(garden: Garden) -> None:
    begun = Event()
    order: list[str] = []

    def steps(_: Services) -> Iterator[JobCounts]:
        begun.set()
        until(lambda: not bench._open)
        order.append("finished")
        yield JobCounts()
        order.append("gone on")

    bench = JobRunner(garden.services)
    at_work = Thread(target=bench.perform, args=(Job("long", 0, steps),))
    at_work.start()
    begun.wait()
    bench.close()
    order.append("closed")
    at_work.join()
    assert order == ["finished", "closed"]


def test_a_refused_job_does_not_fail_its_message(garden: Garden, capsys: pytest.CaptureFixture[str]) -> None:
    def hindered(_: Services) -> Iterator[JobCounts]:
        yield JobCounts(finished=2)
        raise InProgressError("Another process holds it.", hint="Wait.")

    configure_logs("info", "json")
    JobRunner(garden.services).perform(Job("hindered", 0, hindered))
    entry = json.loads(capsys.readouterr().err)
    assert (entry["level"], entry["reason"]) == ("warning", "Another process holds it.")
    assert (entry["job"], entry["finished"], entry["failed"]) == ("hindered", 2, 1)
    assert entry["took_seconds"] >= 0


def test_a_job_logs_the_same_for_a_message_and_for_the_timer(
    garden: Garden, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: Services) -> Iterator[JobCounts]:
        yield JobCounts(finished=1)
        raise RuntimeError

    done = Job("done", 3600, lambda _: iter([JobCounts(finished=1)]))
    hindered = Job("hindered", 3600, lambda _: map(_raised, [InProgressError("Not now.", hint="Wait.")]))
    failing = Job("failing", 3600, broken)
    configure_logs("info", "json")

    def log() -> list[dict[str, object]]:
        entries = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
        changing = {"timestamp", "took_seconds", "exception"}
        assert all("took_seconds" in each for each in entries)
        return sorted(
            ({key: each[key] for key in each.keys() - changing} for each in entries),
            key=lambda each: str(each["job"]),
        )

    for job in (done, hindered, failing):
        with suppress(RuntimeError):
            JobRunner(garden.services).perform(job)
    by_message = log()
    timer = Timer(garden.services, (done, hindered, failing))
    timer.start()
    until(lambda: len(timer.totals) == 3)
    timer.close()
    assert log() == by_message
    assert [each["job"] for each in by_message] == ["done", "failing", "hindered"]


def _raised(error: InProgressError) -> JobCounts:
    raise error


def test_the_doctor_tells_a_live_broker_from_a_lost_one(
    home: Home, broker: RealBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GARDEN_BROKER_URL", broker.url)

    def found() -> tuple[str, str]:
        finding = next(each for each in examine(home.path) if each.check == "broker")
        return finding.status, finding.message

    assert found()[0] == "ok"
    assert found()[1].endswith(" answers")
    assert "guest:guest" not in found()[1]
    broker.lose()
    assert found()[0] == "failed"
    broker.bring_back()
    assert found()[0] == "ok"
