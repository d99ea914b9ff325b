"""Processes that work in a garden are killed at random moments; no acknowledged change is lost."""

import os

import pytest

from garden.home.folder import Home
from tests.crash.kill_breakages import BREAKAGES
from tests.crash.killing import ENOUGH_TO_DETECT, detections, kill_at_random
from tests.crash.sampling import sample

# `make crash` kills more often: see `python -m tests.crash.killing`.
KILLS = int(os.environ.get("GARDEN_TEST_CRASH_KILLS", "12"))
SEED = int(os.environ.get("GARDEN_TEST_CRASH_SEED", "0"))


def test_after_kills_at_random_every_acknowledged_change_is_there_once(ready_home: Home) -> None:
    figures = kill_at_random(ready_home, kills=KILLS, seed=SEED)
    assert figures.faults == [], (ready_home.path.parent / "targets.log").read_text()
    assert figures.kills.total() >= KILLS
    assert figures.acknowledged
    assert figures.recovered == figures.stalled


@pytest.mark.parametrize("breakage", sample(list(BREAKAGES), 1))
def test_a_product_that_breaks_its_promises_is_detected(ready_home: Home, breakage: str) -> None:
    figures = kill_at_random(ready_home, kills=ENOUGH_TO_DETECT, seed=SEED, breakage=breakage)
    assert detections(figures)
