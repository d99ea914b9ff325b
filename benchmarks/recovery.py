"""The cost of settling a stalled change, relative to a write; and the time for a backlog.

A backlog of real stalled sagas is made by writers that go away in the middle of a change, as a kill would
make them: half of them before the file was written, half right after. `GARDEN_BENCH_BACKLOG` says how many.
"""

import os
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from benchmarks.ratios import Ratio
from garden.application import Garden
from garden.demo.throw_away import throw_away_home
from garden.events.database import connection
from garden.events.migrations import migrate
from garden.files.failpoints import Failpoint, watch_failpoints
from garden.home.embedded import EmbeddedPostgres
from garden.home.settings import load_settings
from garden.home.setup import PreparedHome
from garden.upkeep.reconciliation import sweep

_BACKLOG = int(os.environ.get("GARDEN_BENCH_BACKLOG", "2000"))
_DOCUMENTS_OF_A_USER = 10
_SECONDS_FOR_TEN_THOUSAND = 60


class _GoneError(BaseException):
    pass


def measure() -> Iterator[Ratio]:
    with throw_away_home() as home:
        url = EmbeddedPostgres(home).ensure_running()
        with connection(url) as opened:
            migrate(opened)
        with Garden(load_settings(home.path).settings, PreparedHome(home, url, ())) as garden:
            yield from _backlog(garden)


def _backlog(garden: Garden) -> Iterator[Ratio]:
    users = [f"user-{number}" for number in range(_BACKLOG // _DOCUMENTS_OF_A_USER)]
    paths = [_path(user, number) for user in users for number in range(_DOCUMENTS_OF_A_USER)]
    for path in paths:
        _call(garden, "md.plant", path=path)
    started = time.perf_counter()
    for path in paths:
        _write(garden, path, "as it should be")
    of_a_write = (time.perf_counter() - started) / len(paths)
    for number, path in enumerate(paths):
        _leave_open(garden, path, Failpoint.WRITTEN if number % 2 else Failpoint.BEGUN)
    started = time.perf_counter()
    outcomes = Counter(each.outcome for each in sweep(garden.services, timedelta(0)))
    took = time.perf_counter() - started
    if outcomes != Counter(finished=len(paths) // 2, undone=len(paths) // 2):
        raise AssertionError(outcomes)
    each = took / len(paths)
    detail = f"{each * 1000:.2f} ms to {of_a_write * 1000:.2f} ms, half undone and half finished"
    yield Ratio("recovery: a stalled change / a write", each / of_a_write, 3, detail=detail)
    backlog = each * 10_000 / _SECONDS_FOR_TEN_THOUSAND
    detail = f"{took:.1f} s for {len(paths):,}, one after the other, no broker"
    yield Ratio("recovery: ten thousand stalled changes / a minute", backlog, 1, detail=detail)


def _path(user: str, number: int) -> str:
    name = "profile" if number % 2 else "notes"
    return f"users/{user}/parts/part-{number // 2}/{name}.md"


def _write(garden: Garden, path: str, text: str) -> None:
    if path.endswith("notes.md"):
        _call(garden, "fs.append", path=path, text=text)
    else:
        _call(garden, "md.patch_section", path=path, sectionAnchor="summary v1", change={"append": text})


def _leave_open(garden: Garden, path: str, last: Failpoint) -> None:
    def go(step: Failpoint) -> None:
        if step is last:
            raise _GoneError

    with watch_failpoints(go):
        try:
            _write(garden, path, "cut off")
        except _GoneError:
            return
    raise AssertionError(f"{path} was written to its end")


def _call(garden: Garden, tool: str, **args: Any) -> None:
    answer = garden.session(args["path"].split("/")[1], "companion").call(tool, args)
    if not answer["ok"]:
        raise AssertionError(answer)
