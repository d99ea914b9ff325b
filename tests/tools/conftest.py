"""An open garden on a home and a database of its own, and somebody at work in it."""

from collections.abc import Iterator

import pytest

from garden.application import Garden, open_garden
from garden.events.database import connection
from garden.home.folder import Home
from garden.session import Session
from tests.support.gardens import out_of_step
from tests.tools.attacked import Scene


@pytest.fixture
def database(cleared_database: str) -> str:
    """The worker's database, emptied."""
    return cleared_database


@pytest.fixture
def garden(home: Home, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Garden]:
    """An open garden."""
    monkeypatch.setenv("GARDEN_DATABASE_URL", database)
    with open_garden(home.path) as opened:
        yield opened


@pytest.fixture
def ada(garden: Garden) -> Session:
    """Ada's companion at work."""
    return garden.session("ada", "companion")


@pytest.fixture
def scene(garden: Garden, database: str) -> Iterator[Scene]:
    """A garden to attack."""
    with connection(database) as opened:
        yield Scene(garden, opened)


@pytest.fixture(autouse=True)
def _the_account_holds_in_the_end(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a test did: every chain holds, and every file is what the account says.

    What an attack leaves lying about is no document of anybody's, so scenes are left out.
    """
    watched = "garden" in request.fixturenames and "scene" not in request.fixturenames
    garden = request.getfixturevalue("garden") if watched else None
    yield
    if garden is not None:
        assert out_of_step(garden) == []
