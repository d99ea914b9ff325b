"""Run a command with GARDEN_TEST_RABBITMQ_URL naming the machine's own RabbitMQ.

    python -m tests.support.local_rabbitmq make test ARGS=tests/upkeep

Where none answers it says so and runs nothing. Tests use queues of their own there, and remove them.
"""

import os
import subprocess
import sys

from garden.upkeep.broker import BrokerUnavailableError, greet
from tests.support.brokers import RABBITMQ

_URL = "amqp://guest:guest@127.0.0.1:5672"


def main(command: list[str]) -> int:
    url = os.environ.get(RABBITMQ) or _URL
    try:
        greet(url)
    except BrokerUnavailableError as error:
        print(f"{error.message}; nothing to run the tests on.")
        return 0
    print("Running on the machine's RabbitMQ", flush=True)
    return subprocess.run(command, env=os.environ | {RABBITMQ: url}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
