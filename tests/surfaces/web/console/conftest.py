"""People at the console of the service that all tests of a worker share."""

from collections.abc import Iterator

import pytest

from tests.support.served import Person, Service
from tests.support.visitors import Visitor, visiting


@pytest.fixture(scope="session")
def keeper(service: Service) -> Iterator[Visitor]:
    """The maintainer of a garden that no test changes."""
    with service.person() as person, visiting(service, person) as visitor:
        person.ok("md.plant", path=person.notes)
        why = {"rationale": "At supper.", "evidenceRefs": ["ev:s1-m2"], "agentActionId": "turn-7"}
        person.ok("fs.append", path=person.notes, text="Slept well.", **why)
        yield visitor


@pytest.fixture
def owner(service: Service, ada: Person) -> Iterator[Visitor]:
    """The maintainer of Ada's garden."""
    with visiting(service, ada) as visitor:
        yield visitor


@pytest.fixture
def reviewer(service: Service, ada: Person) -> Iterator[Visitor]:
    """A reviewer of Ada's garden."""
    with visiting(service, ada, "reviewer", "mira") as visitor:
        yield visitor
