"""A session for the tests of the write path."""

import pytest

from garden.application import Garden
from garden.session import Session


@pytest.fixture
def ada(garden: Garden) -> Session:
    """A session of the agent in Ada's garden."""
    return garden.session("ada", "companion")
