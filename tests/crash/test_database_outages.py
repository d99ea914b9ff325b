"""The database is stopped, started, gone for a while, or at the end of a bad line, while everybody writes."""

import os

from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home
from tests.crash.battlefield import Figures
from tests.crash.outages import bad_line, spoil_the_line, stop_at_random

OUTAGES = int(os.environ.get("GARDEN_TEST_CRASH_OUTAGES", "3"))
SEED = int(os.environ.get("GARDEN_TEST_CRASH_SEED", "0"))
OUTAGES_IN_A_BAD_SEASON = 5


def test_whenever_the_server_stops_what_was_acknowledged_is_there_once(home: Home) -> None:
    try:
        figures = stop_at_random(home, outages=OUTAGES, seed=SEED)
    finally:
        EmbeddedPostgres(home).stop()
    expect_nothing_broken(figures, home)
    assert figures.outages == OUTAGES


def test_on_a_line_that_breaks_off_in_the_midst_of_words_what_was_acknowledged_is_there_once(
    home: Home, database: str
) -> None:
    seasons = max(1, OUTAGES // OUTAGES_IN_A_BAD_SEASON)
    with bad_line(home, database, SEED) as line:
        figures = spoil_the_line(home, line, seasons=seasons, seed=SEED)
    expect_nothing_broken(figures, home)


def expect_nothing_broken(figures: Figures, home: Home) -> None:
    assert figures.faults == [], (home.path.parent / "victims.log").read_text()
    assert figures.acknowledged
    assert figures.recovered == figures.stalled
