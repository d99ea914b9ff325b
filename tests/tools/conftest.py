"""An open garden on a home and a database of its own, and a session in it."""

from collections.abc import Iterator

import pytest

from events.database import connection
from garden.application import Garden, open_garden
from garden.home import Home
from garden.session import Session
from tests.tools.attacked import Scene


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
