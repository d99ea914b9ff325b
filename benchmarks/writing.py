"""An edit costs what it changes: not the document, not the history, not the other writers.

`GARDEN_BENCH_EVENTS` says how many events the large history has; a hundredth as many documents, and a
thousandth as many versions of the edited one.
"""

import os
import secrets
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from benchmarks.contestants.clients import Driver
from benchmarks.contestants.in_floor import Contestant as Floor
from benchmarks.contestants.in_floor import put
from benchmarks.profiles import profile
from benchmarks.ratios import Ratio, Stopwatch, micro
from benchmarks.work import Edit, first_edit, next_edit, notes
from benchmarks.work import profile as work_profile
from garden.application import Garden
from garden.demo.throw_away import throw_away_home
from garden.events.database import connection
from garden.events.migrations import migrate
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home
from garden.home.settings import load_settings
from garden.home.setup import PreparedHome
from garden.session import Session
from tests.support.many_events import fill

_WARM_UP_ROUNDS = 20
_ROUNDS = 150
_MANY_EVENTS = int(os.environ.get("GARDEN_BENCH_EVENTS", "100000"))
_MANY_DOCUMENTS = _MANY_EVENTS // 100
_MANY_COPIES = max(2000, _MANY_EVENTS // 1000)
_DOCUMENTS_OF_A_USER = 10
_SECTIONS_OF_500_KB = 1660
_PROCESSES = 2
_WRITERS = 8
_EDITS_OF_A_WRITER = 40
_HEATS = 7
_USER = "sample-user"
# Notes have no Change Log, which would grow with every round.
_GROWING = f"users/{_USER}/parts/growing/notes.md"


def measure() -> Iterator[Ratio]:
    with _garden() as few:
        yield from _alone(few)
        yield from _size(few)
        with _garden(_MANY_EVENTS, _MANY_COPIES) as many:
            yield from _growth(few.session, many.session)
    with _garden() as fresh:
        yield _writers(fresh)


@dataclass(frozen=True)
class _Opened:
    """A garden for benchmarks."""

    session: Session
    home: Home
    url: str


@contextmanager
def _garden(events: int = 0, copies: int = 0) -> Iterator[_Opened]:
    with throw_away_home() as home:
        url = EmbeddedPostgres(home).ensure_running()
        with connection(url) as opened:
            migrate(opened)
            if events:
                users = max(1, _MANY_DOCUMENTS // _DOCUMENTS_OF_A_USER)
                fill(opened, events=events, users=users, documents=_DOCUMENTS_OF_A_USER)
        _pile_up(home, copies)
        with Garden(load_settings(home.path).settings, PreparedHome(home, url, ())) as garden:
            yield _Opened(garden.session(_USER, "companion"), home, url)


def _alone(opened: _Opened) -> Iterator[Ratio]:
    """An edit and the floor in turns in one process, with nothing else to fill the processor's caches."""
    watch, folder = Stopwatch(), opened.home.path / "others"
    path = _document(opened.session, 0)
    (folder / "parts" / "alone").mkdir(parents=True)
    edit = first_edit("parts/alone/profile.md", "Concerns")
    (folder / edit.document).write_text(work_profile("alone", _USER))
    floor = Floor(folder, opened.url)
    for number in range(_WARM_UP_ROUNDS + _ROUNDS):
        if number == _WARM_UP_ROUNDS:
            watch.warmed_up()
        watch.take("edit", partial(_patch, opened.session, path))
        watch.take("floor", partial(floor.edit, edit.document, edit.anchor, edit.old, edit.new))
        edit = next_edit(edit)
    yield watch.ratio("section edit / floor, in turns in one process", "edit", "floor", at_most=1.25)


def _size(opened: _Opened) -> Iterator[Ratio]:
    """A section of a long document, and of a short one; and what the disk takes for the files alone."""
    watch, texts = Stopwatch(), {}
    for part, sections in (("small", 20), ("large", _SECTIONS_OF_500_KB)):
        texts[part] = notes(part, _USER, sections)
        opened.session.fs.write(f"users/{_USER}/parts/{part}/notes.md", texts[part])
    for number in range(_WARM_UP_ROUNDS + _ROUNDS):
        if number == _WARM_UP_ROUNDS:
            watch.warmed_up()
        for part, text in texts.items():
            path = f"users/{_USER}/parts/{part}/notes.md"
            watch.take(part, partial(_patch, opened.session, path, "theme_7 v1"))
            watch.take(f"{part} file", partial(put, opened.home.path / "others.md", text.encode()))
    files = [micro(watch.median(f"{part} file")) for part in ("large", "small")]
    disk = f", a synced file alone {files[0]} / {files[1]} µs"
    yield watch.ratio(
        f"edit in {len(texts['large']) // 1000} KB / in 6 KB", "large", "small", at_most=1.5, of_which=disk
    )


def _writers(opened: _Opened) -> Ratio:
    """Edits a second of eight writers on eight documents in two processes, against one writer alone."""
    paths = [_document(opened.session, number) for number in range(_WRITERS)]
    lanes = [[_edit(path) for _ in range(_EDITS_OF_A_WRITER)] for path in paths]
    watch, folder = Stopwatch(), opened.home.users / _USER
    with ThreadPoolExecutor(_PROCESSES) as threads, ExitStack() as stack:
        drivers = [
            Driver(sys.executable, "in_garden.Contestant", folder, opened.url) for _ in range(_PROCESSES)
        ]
        for driver in drivers:
            stack.callback(driver.close)
        shares = [lanes[number::_PROCESSES] for number in range(_PROCESSES)]
        for number in range(_HEATS + 1):
            if number == 1:
                watch.warmed_up()
            watch.take("one", partial(drivers[0].run, lanes[:1]))
            watch.take("eight", lambda: list(threads.map(Driver.run, drivers, shares)))
    one, eight = (
        _EDITS_OF_A_WRITER / watch.median("one"),
        _WRITERS * _EDITS_OF_A_WRITER / watch.median("eight"),
    )
    title = f"{_WRITERS} writers on {_WRITERS} documents, {_PROCESSES} processes / one writer"
    return Ratio(
        title, eight / one, 1.8, more_is_better=True, detail=f"{eight:.0f} / {one:.0f} edits a second"
    )


def _edit(path: str) -> Edit:
    return Edit(
        path.removeprefix(f"users/{_USER}/"), "Concerns", "", f"- Can't sleep, {secrets.token_hex(8)}\n"
    )


def _growth(few: Session, many: Session) -> Iterator[Ratio]:
    watch = Stopwatch()
    for session in (few, many):
        session.fs.write(_GROWING, profile().replace("id: anxious-achiever", "id: growing-notes"))
    for number in range(_WARM_UP_ROUNDS + _ROUNDS):
        if number == _WARM_UP_ROUNDS:
            watch.warmed_up()
        watch.take("few", partial(_patch, few, _GROWING))
        watch.take("many", partial(_patch, many, _GROWING))
    history = f"{_MANY_EVENTS:,} events, {_MANY_DOCUMENTS:,} documents, {_MANY_COPIES:,} versions"
    yield watch.ratio(f"edit with {history} / none", "many", "few", at_most=1.3)


def _pile_up(home: Home, copies: int) -> None:
    folder = home.history / _USER / "parts" / "growing" / "notes"
    folder.mkdir(parents=True, mode=0o700)
    for number in range(copies):
        name = f"2026-01-01T000000.{number:06d}Z-0193a1b2-0000-7000-8000-{number:012d}.md"
        (folder / name).write_text(profile())


def _document(session: Session, number: int) -> str:
    part = f"part-{number}"
    path = f"users/{_USER}/parts/{part}/profile.md"
    text = profile().replace("id: anxious-achiever", f"id: {part}")
    if not session.call("fs.hash", {"path": path})["ok"]:
        session.fs.write(path, text)
    return path


def _patch(session: Session, path: str, anchor: str = "concerns v1") -> None:
    words = f"- Says yes before looking at the week\n- Can't sleep then, {secrets.token_hex(4)}\n"
    answer = session.call(
        "md.patch_section",
        {
            "path": path,
            "sectionAnchor": anchor,
            "change": {"replace": words},
            "rationale": "She said so.",
        },
    )
    if not answer["ok"]:
        raise RuntimeError(answer["error"]["message"])
