"""Brokers, processes that use them, and messages for them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from garden.application import Garden
from garden.home.folder import Home
from garden.home.settings import Upkeep
from garden.upkeep.jobs import declare, job_broker, queue_name
from garden.upkeep.tasks import jobs
from tests.support.brokers import RealBroker, kinds_of_brokers, real_broker

ONLY_MESSAGES = {f"GARDEN_UPKEEP_{job.upper()}_SECONDS": "0" for job in jobs(Upkeep())}
"""Settings that turn every timer off."""

ONLY_THE_TIMER = {**ONLY_MESSAGES, "GARDEN_UPKEEP_SWEEP_SECONDS": "1"}
"""Settings that leave only the sweep's timer on."""


@dataclass
class Running:
    """A running command, and the line it printed when ready."""

    process: subprocess.Popen[str]
    first_line: str
    log_file: Path

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> int:
        """Send SIGTERM, and wait for the exit code."""
        self.process.terminate()
        return self.process.wait(timeout=60)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def running(home: Home, *words: str, env: dict[str, str], program: str = "garden") -> Iterator[Running]:
    """Run a command, and wait for the line it prints when ready."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GARDEN_")}
    command = [sys.executable, "-m", program, "--home", str(home.path), *words]
    log_file = home.path / f"{words[0]}.log"
    with (
        log_file.open("a") as log,
        subprocess.Popen(
            command, env={**clean, **env}, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            first_line = process.stdout.readline()
            assert first_line, log_file.read_text()
            yield Running(process, first_line, log_file)
        finally:
            process.kill()


@pytest.fixture(params=kinds_of_brokers())
def broker(request: pytest.FixtureRequest, ready_home: Home, folder: Path) -> Iterator[RealBroker]:
    """A broker of each available kind."""
    with real_broker(request.param, folder, queue_name(ready_home)) as made:
        yield made


@contextmanager
def worker(
    garden: Garden,
    broker: RealBroker,
    *words: str,
    env: dict[str, str] | None = None,
    program: str = "garden",
) -> Iterator[Running]:
    """Run `garden worker` with every open saga stalled, and, unless `env` is given, all timers off."""
    settings = {"GARDEN_BROKER_URL": broker.url, "GARDEN_UPKEEP_STALLED_SECONDS": "0"}
    env = {**settings, **(env or ONLY_MESSAGES)}
    with running(garden.home, "worker", *words, env=env, program=program) as found:
        yield found


def send(garden: Garden, broker: RealBroker, *names: str) -> None:
    """Send the messages of these jobs."""
    client = job_broker(broker.url)
    actors = declare(client, queue_name(garden.home), jobs(Upkeep()).values(), lambda _: None)
    for name in names:
        next(actor for actor in actors if actor.actor_name == name).send()
    client.close()
