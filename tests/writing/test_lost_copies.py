"""A copy that a power failure took is made again from the events."""

import pytest

from garden.application import Garden
from garden.files.paths import GardenPath
from garden.session import Session
from garden.upkeep.reconciliation import adopt
from garden.upkeep.status import State, status_of_user
from tests.support.gardens import CRITIC, NOTES, file_of, ok, plant
from tests.support.planted import ada
from tests.support.promises import broken_promises


@pytest.fixture
def session(garden: Garden) -> Session:
    plant(ada(garden), NOTES, CRITIC)
    session = ada(garden)
    ok(session, "fs.append", path=NOTES, text="leaves no copy")
    add(session, "replaces the first version")
    return session


def add(session: Session, text: str) -> None:
    change = {"path": CRITIC, "sectionAnchor": "concerns v1", "change": {"append": f"- {text}"}}
    ok(session, "md.patch_section", **change)


def lose_copy(garden: Garden) -> None:
    [copy] = file_of(garden, GardenPath(CRITIC).history.text).iterdir()
    copy.unlink()


def test_the_next_write_makes_a_lost_copy_again(garden: Garden, session: Session) -> None:
    lose_copy(garden)
    assert broken_promises(garden)
    add(session, "the next")
    assert broken_promises(garden) == []


@pytest.mark.usefixtures("session")
def test_a_lost_copy_is_reported_and_made_again_by_the_service(garden: Garden) -> None:
    assert list(adopt(garden.services, "ada")) == []
    lose_copy(garden)
    [status] = (each for each in status_of_user(garden.services, "ada") if not each.in_step)
    assert (status.path, status.state) == (CRITIC, State.COPY_LOST)
    [done] = adopt(garden.services, "ada")
    assert (done.path, done.outcome) == (CRITIC, "made again")
    assert broken_promises(garden) == []
