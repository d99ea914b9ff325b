"""The speed of `garden verify`, with files, history copies and the log, and whether its memory stays flat."""

import os
import time
import tracemalloc
from collections.abc import Iterator

from benchmarks.ratios import Ratio
from garden.application import Garden
from garden.demo.throw_away import throw_away_home
from garden.events.database import connection
from garden.events.migrations import migrate
from garden.history.checkpoints import make_checkpoints
from garden.history.log_check import check_log
from garden.history.verification import verify_user
from garden.home.embedded import EmbeddedPostgres
from garden.home.settings import load_settings
from garden.home.setup import PreparedHome
from tests.support.sealed_events import fill

_EVENTS = int(os.environ.get("GARDEN_BENCH_VERIFIED", "40000"))
_EVENTS_A_MINUTE = 150_000


def measure() -> Iterator[Ratio]:
    with throw_away_home() as home:
        url = EmbeddedPostgres(home).ensure_running()
        with connection(url) as opened:
            migrate(opened)
        with Garden(load_settings(home.path).settings, PreparedHome(home, url, ())) as garden:
            with connection(url) as opened:
                fill(opened, garden.keys(), home.path, events=_EVENTS)
            yield from _speed(garden)
            yield from _memory(garden)


def _speed(garden: Garden) -> Iterator[Ratio]:
    for _ in make_checkpoints(garden.services):
        pass
    users = garden.services.maintenance.users()
    started = time.perf_counter()
    reports = [verify_user(garden.services, user) for user in users]
    of_users = time.perf_counter() - started
    faults = [
        *check_log(garden.services),
        *(f for each in reports for f in each.faults),
    ]
    took = time.perf_counter() - started
    if faults:
        raise AssertionError(faults[:3])
    events = sum(each.events for each in reports)
    needed = events / _EVENTS_A_MINUTE * 60
    rate = f"{events / took * 60:,.0f} a minute"
    detail = f"{events:,} events in {took:.1f} s, {took - of_users:.1f} s of them for the log: {rate}"
    yield Ratio("verify: events / 150,000 a minute", needed / took, 1, more_is_better=True, detail=detail)


def _memory(garden: Garden) -> Iterator[Ratio]:
    """The most memory that one user takes, to that of a quarter of the events."""
    [user, *_] = garden.services.maintenance.users()
    peaks = []
    with garden.services.verifier.open(user) as rows:
        for documents in (2, 8):
            tracemalloc.start()
            for stream in rows.streams()[:documents]:
                rows.check_stream(stream)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    detail = f"{peaks[0] / 1e6:.1f} MB and {peaks[1] / 1e6:.1f} MB"
    yield Ratio("verify: memory of 8,000 events / of 2,000", peaks[1] / peaks[0], 1.2, detail=detail)
