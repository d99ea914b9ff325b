"""A garden with a profile and notes, for processes that are killed in it."""

import pytest

from garden.application import Garden
from tests.support.crowd import Crowd
from tests.support.planted import NOTES, PROFILE, ada, plant


@pytest.fixture
def crowd(garden: Garden, crowd: Crowd) -> Crowd:
    plant(ada(garden), PROFILE)
    plant(ada(garden), NOTES)
    return crowd
