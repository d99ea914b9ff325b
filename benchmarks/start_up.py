"""The cost of starting: the command line, the MCP server, and a restarted embedded database."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.ratios import Ratio, median_seconds, once
from garden.application import open_garden
from garden.demo.throw_away import throw_away_home
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home
from tests.support.mcp_lines import INITIALIZE, Lines

_USER = "sample-user"
_GREETINGS = 5
_INTERPRETER_ROUNDS = 15
_SERVER_ROUNDS = 5
# As it is installed: with compiled modules beside the source.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def measure() -> Iterator[Ratio]:
    bare = median_seconds(lambda: _run("-c", "pass"), _INTERPRETER_ROUNDS)
    shown = median_seconds(lambda: _run("-m", "garden", "--help"), _INTERPRETER_ROUNDS)
    yield Ratio("garden --help over a bare interpreter", shown / bare, 8, detail=f"{shown * 1000:.0f} ms")
    yield from _embedded()
    with throw_away_home() as home:
        yield _listing(home)
        yield _greeting(home)


def _listing(home: Home) -> Ratio:
    with open_garden(home.path) as garden:
        garden.session(_USER).md.plant(f"users/{_USER}/notes.md")
        words = ("-m", "garden", "--home", str(home.path), "ls")
        listed = median_seconds(lambda: _run(*words), _INTERPRETER_ROUNDS)
    return Ratio("garden ls, the database running, in seconds", listed, 0.25)


def _greeting(home: Home) -> Ratio:
    command = [sys.executable, "-m", "garden", "--home", str(home.path), "mcp", "--user", _USER]
    taken = []
    for _ in range(_GREETINGS):
        EmbeddedPostgres(home).stop()
        started = time.perf_counter()
        with Lines(command, {**_ENVIRONMENT, "GARDEN_LOG_LEVEL": "error"}) as server:
            server.ask("initialize", INITIALIZE)
            taken.append(time.perf_counter() - started)
    title = "MCP: initialize, from a cold start without a database, in seconds"
    return Ratio(title, statistics.median(taken), 1.5)


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
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=_ENVIRONMENT)
