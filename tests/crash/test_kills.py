"""Processes that work in a garden are killed at random moments; no acknowledged change is lost."""

import os

from garden.home.folder import Home
from tests.crash.killing import kill_at_random

# `make crash` kills more often, and proves that a product that breaks its promises is detected.
KILLS = int(os.environ.get("GARDEN_TEST_CRASH_KILLS", "12"))
SEED = int(os.environ.get("GARDEN_TEST_CRASH_SEED", "0"))


def test_after_kills_at_random_every_acknowledged_change_is_there_once(ready_home: Home) -> None:
    figures = kill_at_random(ready_home, kills=KILLS, seed=SEED)
    assert figures.faults == [], (ready_home.path.parent / "targets.log").read_text()
    assert figures.kills.total() >= KILLS
    assert figures.acknowledged
    assert figures.recovered == figures.stalled
