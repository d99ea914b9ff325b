"""Workers as real processes, and everything that can go wrong with their broker."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from garden.application import Garden
from garden.home.folder import Home
from tests.support.brokers import RealBroker
from tests.support.planted import NOTES, PROFILE, ada, notes_text, plant
from tests.support.promises import broken_promises, told
from tests.support.stalled import leave_open
from tests.support.waiting import until
from tests.surfaces.cli.conftest import Command
from tests.upkeep.conftest import ONLY_THE_TIMER, Running, send, worker
from tests.upkeep.held_worker import DONE_BEFORE

MANY = 150


def open_changes(garden: Garden) -> int:
    return garden.services.recoveries.counts()[0]


def until_settled(garden: Garden) -> None:
    until(lambda: not open_changes(garden))


def story(garden: Garden, path: str = NOTES) -> list[str]:
    return [f"{event.statement.op} {event.status}" for event in told(garden, path).events]


def put_from_outside(garden: Garden, count: int = MANY) -> None:
    """Create documents outside the tools."""
    for number in range(count):
        part = garden.home.path / f"users/ada/parts/p-{number}"
        part.mkdir(parents=True)
        (part / "notes.md").write_text(notes_text(1))


def adopted(garden: Garden) -> int:
    """Sum of the documents' versions: one for each that was adopted once."""
    with garden.services.reader.snapshot("ada") as snapshot:
        heads = snapshot.fetch("heads", {})
    return sum(head["version"] for head in heads if head["path"].startswith("users/ada/parts/p-"))


def test_a_message_makes_a_worker_settle_sagas(garden: Garden, broker: RealBroker) -> None:
    plant(ada(garden), NOTES)
    plant(ada(garden), PROFILE)
    leave_open(garden, NOTES, "Never written.")
    leave_open(garden, PROFILE, "Written, and not sealed.", written=True)
    with worker(garden, broker) as running:
        assert running.first_line.startswith("Working with 2 threads for ")
        assert open_changes(garden) == 2
        send(garden, broker, "sweep")
        until_settled(garden)
        assert running.stop() == 0
    assert story(garden)[-1] == "append_file failed"
    assert story(garden, PROFILE)[-1] == "append_section committed"
    assert not broken_promises(garden)
    assert "job done" in running.log


def test_a_worker_listens_again_to_a_broker_that_came_back_empty(garden: Garden, broker: RealBroker) -> None:
    plant(ada(garden), NOTES)
    with worker(garden, broker) as running:
        leave_open(garden, NOTES, "Before.")
        send(garden, broker, "sweep")
        until_settled(garden)
        send(garden, broker, "verify")
        broker.lose()
        leave_open(garden, NOTES, "Meanwhile.")
        until(lambda: "connection error" in running.log)
        broker.bring_back()
        send(garden, broker, "sweep")
        until_settled(garden)
        assert running.is_alive
        assert running.stop() == 0
    assert story(garden)[-2:] == ["append_file failed"] * 2
    assert not broken_promises(garden)


def test_a_worker_without_its_broker_sweeps_by_its_timer_and_stops_on_a_signal(
    garden: Garden, broker: RealBroker
) -> None:
    plant(ada(garden), NOTES)
    with worker(garden, broker, env=ONLY_THE_TIMER) as running:
        broker.lose()
        leave_open(garden, NOTES, "No message was sent.")
        until_settled(garden)
        assert running.stop() == 0
    assert not broken_promises(garden)


def test_a_worker_with_a_silent_broker_sweeps_by_its_timer_and_stops_on_a_signal(
    garden: Garden, broker: RealBroker
) -> None:
    plant(ada(garden), NOTES)
    with worker(garden, broker, env=ONLY_THE_TIMER) as running:
        send(garden, broker, "forget")
        until(lambda: not broker.waiting())
        broker.freeze()
        leave_open(garden, NOTES, "No message was sent.")
        until_settled(garden)
        assert running.stop() == 0
    broker.thaw()
    assert not broken_promises(garden)


def test_a_worker_that_starts_before_its_broker_works_once_there_is_one(
    garden: Garden, broker: RealBroker
) -> None:
    plant(ada(garden), NOTES)
    leave_open(garden, NOTES, "Early.")
    broker.lose()
    with worker(garden, broker) as running:
        assert "broker is away" in running.log
        broker.bring_back()
        send(garden, broker, "sweep")
        until_settled(garden)
        assert running.stop() == 0


def test_losing_every_message_loses_no_work(garden: Garden, broker: RealBroker) -> None:
    plant(ada(garden), NOTES)
    leave_open(garden, NOTES, "Lost from sight.")
    send(garden, broker, *["sweep"] * 5)
    assert broker.waiting() == ["sweep"] * 5
    broker.remove_queue()
    assert broker.waiting() == []
    with worker(garden, broker, env=ONLY_THE_TIMER) as running:
        until_settled(garden)
        assert running.stop() == 0
    assert not broken_promises(garden)


def test_a_worker_listens_again_to_a_removed_queue(garden: Garden, broker: RealBroker) -> None:
    plant(ada(garden), NOTES)
    with worker(garden, broker) as running:
        broker.remove_queue()
        leave_open(garden, NOTES, "Behind its back.")
        send(garden, broker, "sweep")
        until_settled(garden)
        assert running.stop() == 0


def test_ten_messages_to_two_workers_have_one_effect(garden: Garden, broker: RealBroker) -> None:
    plant(ada(garden), NOTES)
    plant(ada(garden), PROFILE)
    put_from_outside(garden, 20)
    leave_open(garden, NOTES, "Never written.")
    leave_open(garden, PROFILE, "Written, and not sealed.", written=True)
    before = story(garden)[:-1], story(garden, PROFILE)[:-1]
    with worker(garden, broker, "--threads", "4") as one, worker(garden, broker, "--threads", "4") as other:
        send(garden, broker, *["sweep", "adopt", "forget", "verify"] * 10)
        until(lambda: not broker.waiting() and not open_changes(garden) and adopted(garden) >= 20)
        assert (one.stop(), other.stop()) == (0, 0)
    assert story(garden) == [*before[0], "append_file failed"]
    assert story(garden, PROFILE) == [*before[1], "append_section committed"]
    assert adopted(garden) == 20
    # Messages that a worker fetched but did not begin are back in the queue.
    assert broker.dead() == 0
    assert not broken_promises(garden)


@contextmanager
def worker_in_a_job(garden: Garden, broker: RealBroker) -> Iterator[Running]:
    """A worker that stays in a job until it must stop."""
    put_from_outside(garden)
    send(garden, broker, "adopt")
    with worker(garden, broker, program="tests.upkeep.held_worker") as running:
        until(lambda: adopted(garden) == DONE_BEFORE)
        yield running


def test_the_next_worker_finishes_the_job_of_a_killed_one(garden: Garden, broker: RealBroker) -> None:
    with worker_in_a_job(garden, broker) as running:
        running.kill()
    assert adopted(garden) == DONE_BEFORE
    with worker(garden, broker) as running:
        send(garden, broker, "sweep", "adopt")
        until(lambda: adopted(garden) == MANY)
        assert running.stop() == 0
    assert adopted(garden) == MANY
    assert not broken_promises(garden)


def test_a_worker_finishes_its_step_on_a_stop_signal(garden: Garden, broker: RealBroker) -> None:
    with worker_in_a_job(garden, broker) as running:
        assert running.stop() == 0
    assert adopted(garden) in {DONE_BEFORE, DONE_BEFORE + 1}
    assert not open_changes(garden)
    assert not broken_promises(garden)
    assert "Traceback" not in running.log


@pytest.mark.parametrize("command", ["worker", "schedule"])
def test_without_a_broker_the_command_is_refused_with_a_hint(
    home: Home, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = Command(home.path, monkeypatch).fails(command)
    assert "No broker is configured" in message
    assert "GARDEN_BROKER_URL" in message


@pytest.mark.parametrize("command", ["worker", "schedule"])
def test_an_invalid_address_is_refused_without_its_password(
    ready_home: Home, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    garden = Command(ready_home.path, monkeypatch)
    message = garden.fails(command, GARDEN_BROKER_URL="redis://:hun/ter2@127.0.0.1")
    assert "GARDEN_BROKER_URL is not a valid address" in message
    assert "ter2" not in message
