"""Stop the database and break its connections under load, and check that no promise is broken.

    python -m tests.crash.outages --outages 50 --seed 7

Exits with 1 and names the broken promises where there are any.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from psycopg.conninfo import conninfo_to_dict

from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home, ensure_home
from tests.crash.killing import Report, scratch_folder, scratch_server, silent, tell
from tests.crash.loaded_garden import Figures, LoadedGarden, loaded_garden
from tests.crash.proxy import Line, proxy_to
from tests.crash.targets import KINDS
from tests.support.planted import put_database

SEASON_OUTAGES = 8
ACCIDENTS_PER_THOUSAND = 20
_LONGEST_SECONDS = 0.6
_GONE_SECONDS_MAX = 2.0


def stop_at_random(home: Home, *, outages: int, seed: int, report: Report = silent) -> Figures:
    """Run processes on a server of their own; stop and start the server so many times."""
    chosen, server = random.Random(seed), EmbeddedPostgres(home)  # noqa: S311 - it only chooses
    with loaded_garden(home, seed) as field:
        for begun in range(0, outages, SEASON_OUTAGES):
            field.begin(list(KINDS.values()))
            for _ in range(min(SEASON_OUTAGES, outages - begun)):
                field.watch(_LONGEST_SECONDS * chosen.random())
                _outage(server, chosen)
                field.figures.outages += 1
                field.remember_open(time.monotonic())
            field.watch(_LONGEST_SECONDS * chosen.random())
            _end(field, report)
        return field.figures


def _outage(server: EmbeddedPostgres, chosen: random.Random) -> None:
    """Stop the server abruptly or in order, and start it at once or after a while."""
    server.stop(immediately=chosen.random() < 0.7)
    if chosen.random() < 0.5:
        # How long the server is away; this waits for nothing.
        time.sleep(_GONE_SECONDS_MAX * chosen.random())
    server.ensure_running()


def spoil_the_line(
    home: Home,
    line: Line,
    *,
    seasons: int,
    seed: int,
    seconds: float = 4.0,
    report: Report = silent,
) -> Figures:
    """Run processes over a connection that delays, loses and cuts messages."""
    with loaded_garden(home, seed) as field:
        for _ in range(seasons):
            field.begin(list(KINDS.values()))
            line.accidents(ACCIDENTS_PER_THOUSAND)
            field.watch(seconds)
            line.accidents(0)
            field.figures.outages += 1
            field.remember_open(time.monotonic())
            _end(field, report)
        return field.figures


def _end(field: LoadedGarden, report: Report) -> None:
    field.retire()
    field.recover_and_judge()
    report(field.figures.progress())


@contextmanager
def bad_line(home: Home, url: str, seed: int) -> Iterator[Line]:
    """Make a home reach its database through a proxy that causes no accidents yet."""
    known = conninfo_to_dict(url)
    host, port = str(known.get("host", "127.0.0.1")), known.get("port", 5432)
    target = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else f"{host}:{port}"
    with proxy_to(target, seed) as line:
        secret = f":{known['password']}" if known.get("password") else ""
        put_database(
            home,
            f"postgresql://{known['user']}{secret}@127.0.0.1:{line.port}/{known['dbname']}?sslmode=disable",
        )
        yield line


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--outages", type=int, default=50)
    words.add_argument("--seasons", type=int, default=5, help="how often the line goes bad")
    words.add_argument("--seed", type=int, default=0)
    asked = words.parse_args()
    with scratch_folder() as folder:
        home = ensure_home(folder / "home")
        stopped = stop_at_random(home, outages=asked.outages, seed=asked.seed, report=tell)
        EmbeddedPostgres(home).stop()
    tell("\n".join(stopped.lines()))
    with scratch_folder() as folder, scratch_server(folder) as url:
        home = ensure_home(folder / "home")
        with bad_line(home, url, asked.seed) as line:
            spoiled = spoil_the_line(home, line, seasons=asked.seasons, seed=asked.seed, report=tell)
    tell("\n".join(spoiled.lines()))
    return 0 if all(map(_is_sound, (stopped, spoiled))) else 1


def _is_sound(figures: Figures) -> bool:
    return not figures.faults and figures.acknowledged > 0 and figures.recovered == figures.stalled


if __name__ == "__main__":
    sys.exit(main())
