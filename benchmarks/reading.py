"""Searches, queries and calls: what reading costs, and how many Python calls an edit and a read make."""

import cProfile
import pstats
import resource
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.profiles import profile
from benchmarks.ratios import Ratio, median_seconds
from benchmarks.writing import _document as document
from benchmarks.writing import _garden as throw_away_garden
from benchmarks.writing import _patch as patch
from garden.home.folder import Home
from garden.session import Session

_USER = "sample-user"
_FILES = 2000
_RARE_WORDS = "a lighthouse keeper"
_ROUNDS = 30
_EVENTS_OF_A_PAGE = 20
_QUERIES = 300
_DOCUMENTS_COUNTED = 20


def measure() -> Iterator[Ratio]:
    with throw_away_garden() as opened:
        yield from _calls(opened.session)
        yield _query(opened.session)
        _plant(opened.home)
        yield from _search(opened.session, opened.home)


def _calls(session: Session) -> Iterator[Ratio]:
    paths = [document(session, number) for number in range(_DOCUMENTS_COUNTED)]
    for name, work, reach in (
        ("Python calls of a section edit", partial(patch, session), 1500),
        ("Python calls of a read", lambda path: _ask(session, "fs.read", path=path), 300),
    ):
        # The first edits of a document also fill what is kept with it.
        for path in paths * 3:
            work(path)
        with cProfile.Profile() as profiler:
            for path in paths:
                work(path)
        calls: int = vars(pstats.Stats(profiler))["total_calls"]
        yield Ratio(name, calls / len(paths), reach)


def _query(session: Session) -> Ratio:
    """The user time of the caller's process, without waits and the server's work."""

    def query() -> None:
        found = _ask(session, "events.query", limit=_EVENTS_OF_A_PAGE)
        assert len(found["rows"]) == _EVENTS_OF_A_PAGE

    query()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for _ in range(_QUERIES):
        query()
    took = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    return Ratio(f"events.query of {_EVENTS_OF_A_PAGE} events, user time in ms", took / _QUERIES * 1000, 0.4)


def _plant(home: Home) -> None:
    for number in range(_FILES):
        part = home.users / _USER / "parts" / f"search-{number}"
        part.mkdir(mode=0o700)
        words = _RARE_WORDS if number % 100 == 0 else "a walk"
        (part / "profile.md").write_text(profile().replace("a walk", words))


def _search(session: Session, home: Home) -> Iterator[Ratio]:
    if shutil.which("rg") is None:
        print("  (left out: fs.search / ripgrep: rg is not installed)")
        return
    hits = _FILES // 100 * 2
    folder = home.users / _USER

    def ours() -> None:
        found = _ask(session, "fs.search", root=f"users/{_USER}", pattern=_RARE_WORDS)
        assert len(found) == hits

    def ripgrep() -> None:
        done = subprocess.run(["rg", "-n", _RARE_WORDS, folder], capture_output=True, check=True)
        assert len(done.stdout.splitlines()) == hits

    dividend, divisor = median_seconds(ours, _ROUNDS), median_seconds(ripgrep, _ROUNDS)
    took = f"{dividend * 1000:.1f} / {divisor * 1000:.1f} ms"
    yield Ratio(f"fs.search in {_FILES:,} files / ripgrep", dividend / divisor, 2, detail=took)


def _ask(session: Session, tool: str, **args: object) -> Any:
    answer = session.call(tool, args)
    assert answer["ok"], answer
    return answer["result"]
