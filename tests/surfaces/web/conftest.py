"""One service for all tests of a worker, with new users for each test."""

from collections.abc import Iterator

import pytest

from tests.support.databases import TestServer
from tests.support.folders import run_folder
from tests.support.served import Person, Service, home_of_its_own, served


@pytest.fixture(scope="session")
def service(server: TestServer) -> Iterator[Service]:
    with home_of_its_own(server, run_folder()) as home, served(home) as service:
        yield service


@pytest.fixture
def ada(service: Service) -> Iterator[Person]:
    """A companion with a garden and notes in it."""
    with service.writer() as person:
        yield person


@pytest.fixture
def ben(service: Service) -> Iterator[Person]:
    """Another user's companion."""
    with service.writer() as person:
        yield person
