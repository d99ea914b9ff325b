"""The scheduler: which message it sends when, and what it does while the broker is away."""

import signal
from collections.abc import Iterator

import pendulum
import pytest
from dramatiq import Broker

from garden.home.folder import Home
from garden.home.settings import Upkeep
from garden.upkeep.jobs import crontab, declare, job_broker, queue_name
from garden.upkeep.schedule import JobScheduler
from garden.upkeep.tasks import jobs
from tests.support.brokers import RealBroker
from tests.support.waiting import until
from tests.surfaces.cli.conftest import Command
from tests.upkeep.conftest import ONLY_MESSAGES, running

EACH_MINUTE = ["embed", "index", "keep", "sweep"]


@pytest.fixture
def client(broker: RealBroker) -> Iterator[Broker]:
    made = job_broker(broker.url)
    yield made
    made.close()


@pytest.fixture
def rounds(ready_home: Home, broker: RealBroker, client: Broker) -> Iterator[JobScheduler]:
    actors = declare(client, queue_name(ready_home), jobs(Upkeep()).values(), lambda _: None)
    before = signal.getsignal(signal.SIGALRM)
    yield JobScheduler(client, broker.url, actors)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def sent_at(
    rounds: JobScheduler, broker: RealBroker, clock: str, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """Jobs whose messages the scheduler sends at this time."""
    now = pendulum.parse(f"2026-11-18 {clock}")
    with monkeypatch.context() as patched:
        patched.setattr(pendulum, "now", lambda: now)
        rounds.schedule()
    sent = broker.waiting()
    broker.remove_queue()
    return sent


@pytest.mark.parametrize(
    ("every_seconds", "expected"),
    [
        (1, "*/1 * * * *"),
        (60, "*/1 * * * *"),
        (119, "*/1 * * * *"),
        (600, "*/10 * * * *"),
        (7 * 60, "*/6 * * * *"),
        (3600, "0 */1 * * *"),
        (5 * 3600, "0 */4 * * *"),
        (86400, "0 3 * * *"),
        (10**7, "0 3 * * *"),
    ],
)
def test_a_crontab_is_the_closest_to_the_interval(every_seconds: int, expected: str) -> None:
    assert crontab(every_seconds) == expected


def test_each_job_is_sent_when_it_is_due_and_not_before(
    rounds: JobScheduler, broker: RealBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    due = {
        clock: sent_at(rounds, broker, clock, monkeypatch)
        for clock in ("02:59:00", "03:00:00", "03:01:00", "04:00:00", "04:10:00")
    }
    assert due == {
        "02:59:00": EACH_MINUTE,
        "03:00:00": ["adopt", "checkpoint", "embed", "forget", "index", "keep", "sweep", "verify"],
        "03:01:00": EACH_MINUTE,
        "04:00:00": ["adopt", "checkpoint", "embed", "forget", "index", "keep", "sweep"],
        "04:10:00": ["adopt", *EACH_MINUTE],
    }


def test_between_rounds_no_connection_waits_to_be_found_dead(
    rounds: JobScheduler, broker: RealBroker, client: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sent_at(rounds, broker, "03:01:00", monkeypatch) == EACH_MINUTE
    assert not getattr(client, "connections", ())


def test_the_scheduler_goes_on_while_the_broker_is_away(
    rounds: JobScheduler, broker: RealBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sent_at(rounds, broker, "03:01:00", monkeypatch) == EACH_MINUTE
    broker.lose()
    now = pendulum.parse("2026-11-18 03:02:00")
    with monkeypatch.context() as patched:
        patched.setattr(pendulum, "now", lambda: now)
        rounds.schedule()
    broker.bring_back()
    assert sent_at(rounds, broker, "03:03:00", monkeypatch) == EACH_MINUTE


def test_a_message_to_a_removed_queue_is_not_lost(
    rounds: JobScheduler, broker: RealBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Over RabbitMQ only confirmed messages show that a queue is gone.
    for clock in ("03:01:00", "03:02:00", "03:03:00"):
        assert sent_at(rounds, broker, clock, monkeypatch) == EACH_MINUTE


@pytest.mark.parametrize("stop_signal", [signal.SIGTERM, signal.SIGINT])
def test_the_process_names_its_jobs_and_sends_and_stops(
    ready_home: Home, broker: RealBroker, stop_signal: signal.Signals
) -> None:
    with running(ready_home, "schedule", env={"GARDEN_BROKER_URL": broker.url}) as found:
        assert found.first_line.startswith("Scheduling for ")
        assert found.first_line.endswith(
            "sweep (*/1 * * * *), adopt (*/10 * * * *), forget (0 */1 * * *), verify (0 3 * * *), "
            "index (*/1 * * * *), keep (*/1 * * * *), embed (*/1 * * * *), checkpoint (0 */1 * * *)\n"
        )
        until(lambda: "sweep" in broker.waiting())
        found.process.send_signal(stop_signal)
        assert found.process.wait(timeout=60) == 0
    assert "Traceback" not in found.log


def test_the_process_starts_and_stops_while_its_broker_is_away(ready_home: Home, broker: RealBroker) -> None:
    broker.lose()
    with running(ready_home, "schedule", env={"GARDEN_BROKER_URL": broker.url}) as found:
        until(lambda: "messages not sent" in found.log)
        assert found.is_alive
        assert found.stop() == 0
    assert "Traceback" not in found.log


def test_jobs_with_interval_0_are_not_scheduled(
    ready_home: Home, broker: RealBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = {"GARDEN_BROKER_URL": broker.url, **ONLY_MESSAGES}
    only_one = env | {"GARDEN_UPKEEP_VERIFY_SECONDS": "86400"}
    with running(ready_home, "schedule", env=only_one) as found:
        assert found.first_line.endswith(": verify (0 3 * * *)\n")
        assert found.stop() == 0
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert "There is nothing to schedule" in Command(ready_home.path, monkeypatch).fails("schedule")
