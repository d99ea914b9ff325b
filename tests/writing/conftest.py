"""A session, a crowd of processes, and a server of its own for the tests of the write path."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.crowd import Crowd, crowd_in


@pytest.fixture
def ada(garden: Garden) -> Session:
    """A session of the agent in Ada's garden."""
    return garden.session("ada", "companion")


@pytest.fixture(scope="session")
def crowd() -> Iterator[Crowd]:
    """A process that forks others; `Crowd.at` gives it a home."""
    with crowd_in(Path("/")) as crowd:
        yield crowd
