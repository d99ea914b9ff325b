"""Everything that works in a garden is killed at any moment, and what was acknowledged is there."""

import os

import pytest

from garden.home.folder import Home
from tests.crash.broken_products import BREAKAGES
from tests.crash.killing import kill_at_random

# More are asked for by whoever has more time: `python -m tests.crash.killing` does the same by hand.
KILLS = int(os.environ.get("GARDEN_TEST_CRASH_KILLS", "20"))
SEED = int(os.environ.get("GARDEN_TEST_CRASH_SEED", "0"))
# The first season of kills shows it nearly always, and is the last then.
ENOUGH_TO_SEE_IT = 200


def test_whoever_is_killed_and_whenever_what_was_acknowledged_is_there_once(ready_home: Home) -> None:
    figures = kill_at_random(ready_home, kills=KILLS, seed=SEED)
    assert figures.faults == [], (ready_home.path.parent / "victims.log").read_text()
    assert figures.kills.total() >= KILLS
    assert figures.acknowledged
    assert figures.recovered == figures.stalled


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_a_product_that_breaks_its_promises_is_found_out(ready_home: Home, breakage: str) -> None:
    figures = kill_at_random(ready_home, kills=ENOUGH_TO_SEE_IT, seed=SEED, breakage=breakage)
    assert [fault for fault in figures.faults if "ended by itself" not in fault]
