"""A garden on a home and a database of its own, and somebody at work in it."""

from collections.abc import Iterator

import pytest

from garden.application import Garden, open_garden
from garden.home import Home
from garden.session import Session
from tests.support.gardens import out_of_step


@pytest.fixture
def garden(home: Home, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Garden]:
    """An opened garden."""
    monkeypatch.setenv("GARDEN_DATABASE_URL", database)
    with open_garden(home.path) as opened:
        yield opened


@pytest.fixture
def ada(garden: Garden) -> Session:
    """The companion at work in Ada's garden."""
    return garden.session("ada", "companion")


@pytest.fixture(autouse=True)
def _the_account_holds_in_the_end(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a test did: every chain holds, and every file is what the account says."""
    garden = request.getfixturevalue("garden") if "garden" in request.fixturenames else None
    yield
    if garden is not None:
        assert out_of_step(garden) == []
