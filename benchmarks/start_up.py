"""The cost of starting: the command line against a bare interpreter, and a restarted embedded database."""

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.ratios import Ratio, median_seconds, once
from garden.demo.throw_away import throw_away_home
from garden.home.embedded import EmbeddedPostgres

_INTERPRETER_ROUNDS = 15
_SERVER_ROUNDS = 5


def measure() -> Iterator[Ratio]:
    bare = median_seconds(lambda: _run("-c", "pass"), _INTERPRETER_ROUNDS)
    shown = median_seconds(lambda: _run("-m", "garden", "--help"), _INTERPRETER_ROUNDS)
    yield Ratio("garden --help over a bare interpreter", shown / bare, 8, detail=f"{shown * 1000:.0f} ms")
    yield from _embedded()


def _embedded() -> Iterator[Ratio]:
    with throw_away_home() as home:
        embedded = EmbeddedPostgres(home)
        first = once(embedded.ensure_running)
        again = median_seconds(lambda: (embedded.stop(), embedded.ensure_running()), _SERVER_ROUNDS)
        found = median_seconds(embedded.ensure_running, _SERVER_ROUNDS)
    took = f"{again * 1000:.0f} ms"
    yield Ratio("embedded Postgres: stop and start over first start", again / first, 1, detail=took)
    took = f"{found * 1e6:.0f} µs"
    yield Ratio("embedded Postgres: finding it over stop and start", found / again, 0.01, detail=took)


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
