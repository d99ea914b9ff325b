"""A browser and a service with the sample gardens for each worker; people and their guard for each test."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.browsing import Guard, Visits, running_browser
from tests.browser.checks import Validator, running_validator
from tests.browser.story import Story, tell
from tests.support.databases import TestServer
from tests.support.folders import run_folder
from tests.support.served import Person, Service, home_of_its_own, served


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def validator() -> Iterator[Validator]:
    with running_validator() as validator:
        yield validator


@pytest.fixture(scope="session")
def service(server: TestServer) -> Iterator[Service]:
    with home_of_its_own(server, run_folder()) as home, served(home) as service:
        yield service


@pytest.fixture(scope="session")
def story(service: Service) -> Story:
    return tell(service.garden)


@pytest.fixture(scope="session")
def all_visits(browser: Browser, service: Service) -> Visits:
    return Visits(browser, service)


@pytest.fixture
def visits(all_visits: Visits) -> Iterator[Visits]:
    yield all_visits
    all_visits.leave()
    faults, all_visits.guard.faults = all_visits.guard.faults, []
    assert faults == []


@pytest.fixture
def guard(visits: Visits) -> Guard:
    return visits.guard


@pytest.fixture
def ada(service: Service) -> Iterator[Person]:
    """A companion with a garden of its own and notes in it."""
    with service.writer() as person:
        yield person


@pytest.fixture
def ben(service: Service) -> Iterator[Person]:
    """Another user's companion."""
    with service.writer() as person:
        yield person
