"""An open garden in a fresh home, and an agent's session in it."""

from collections.abc import Iterator

import pytest

from garden.application import Garden, open_garden
from garden.events.database import connection
from garden.home.folder import Home
from garden.session import Session
from tests.support.gardens import out_of_step
from tests.tools.attacked import Scene


@pytest.fixture
def garden(home: Home, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Garden]:
    """An open garden."""
    monkeypatch.setenv("GARDEN_DATABASE_URL", database)
    with open_garden(home.path) as opened:
        yield opened


@pytest.fixture
def ada(garden: Garden) -> Session:
    """A session of Ada's companion."""
    return garden.session("ada", "companion")


@pytest.fixture
def scene(garden: Garden, database: str) -> Iterator[Scene]:
    """A garden to attack."""
    with connection(database) as opened:
        yield Scene(garden, opened)


@pytest.fixture(autouse=True)
def _the_account_holds_in_the_end(request: pytest.FixtureRequest) -> Iterator[None]:
    """After each test, every chain verifies and every file matches its head.

    Scenes are exempt, because an attack may leave files that are no documents.
    """
    watched = "garden" in request.fixturenames and "scene" not in request.fixturenames
    garden = request.getfixturevalue("garden") if watched else None
    yield
    if garden is not None:
        assert out_of_step(garden) == []
