"""The database stops, restarts, stays away, or has a bad connection while many processes write."""

import os

from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home
from tests.crash.loaded_garden import Figures
from tests.crash.outages import bad_line, spoil_the_line, stop_at_random
from tests.crash.sampling import FULL

OUTAGES = int(os.environ.get("GARDEN_TEST_CRASH_OUTAGES", "3" if FULL else "1"))
SEED = int(os.environ.get("GARDEN_TEST_CRASH_SEED", "0"))
OUTAGES_IN_A_BAD_SEASON = 5


def test_after_a_server_stop_every_acknowledged_change_is_there_once(home: Home) -> None:
    try:
        figures = stop_at_random(home, outages=OUTAGES, seed=SEED)
    finally:
        EmbeddedPostgres(home).stop()
    expect_nothing_broken(figures, home)
    assert figures.outages == OUTAGES


def test_after_broken_connections_every_acknowledged_change_is_there_once(home: Home, database: str) -> None:
    seasons = max(1, OUTAGES // OUTAGES_IN_A_BAD_SEASON)
    with bad_line(home, database, SEED) as line:
        figures = spoil_the_line(home, line, seasons=seasons, seed=SEED, seconds=4.0 if FULL else 1.0)
    expect_nothing_broken(figures, home)


def expect_nothing_broken(figures: Figures, home: Home) -> None:
    assert figures.faults == [], (home.path.parent / "targets.log").read_text()
    assert figures.acknowledged
    assert figures.recovered == figures.stalled
