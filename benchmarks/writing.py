"""The cost of a durable, audited edit: `md.patch_section` against the possible minimum, and against git.

The floor is written by hand: a bare insert, a synced copy of the old version, a synced replacement, a bare
update. No lock, no plan, no lint, no seal, no head, no idempotency.
"""

import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg

from benchmarks.profiles import profile
from benchmarks.ratios import Ratio, Stopwatch
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
_ROUNDS = 300
_GROWTH_ROUNDS = 150
_EDITS_OF_A_DOCUMENT = 5
_MANY_EVENTS = int(os.environ.get("GARDEN_BENCH_EVENTS", "1000000")) // 10
_MANY_COPIES = 2000
_USER = "sample-user"
# Notes have no Change Log, which would grow with every round.
_GROWING = f"users/{_USER}/parts/growing/notes.md"


def measure() -> Iterator[Ratio]:
    with _garden() as garden, psycopg.connect(garden.url, autocommit=True) as bare:
        yield from _against_others(garden.session, _Floor(bare, garden.home.path), _Git(garden.home.path))
    with _garden() as few, _garden(_MANY_EVENTS, _MANY_COPIES) as many:
        yield from _growth(few.session, many.session)


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
                fill(opened, events=events, users=100)
        _pile_up(home, copies)
        with Garden(load_settings(home.path).settings, PreparedHome(home, url, ())) as garden:
            yield _Opened(garden.session(_USER, "companion"), home, url)


def _against_others(session: Session, floor: "_Floor", git: "_Git") -> Iterator[Ratio]:
    watch = Stopwatch()
    for number in range(_WARM_UP_ROUNDS + _ROUNDS):
        if number == _WARM_UP_ROUNDS:
            watch.warmed_up()
        path = _document(session, number // _EDITS_OF_A_DOCUMENT)
        watch.take("patch", partial(_patch, session, path))
        watch.take("floor", floor.edit)
        if number % 4 == 0:
            watch.take("git", git.edit)
            watch.take("patch beside git", partial(_patch, session, _document(session, 10_000 + number)))
    yield watch.ratio("md.patch_section / hand-written floor", "patch", "floor", at_most=1.5)
    slower = watch.median("git") / watch.median("patch beside git")
    yield Ratio("git add and commit / md.patch_section", slower, 4, more_is_better=True)


def _growth(few: Session, many: Session) -> Iterator[Ratio]:
    watch = Stopwatch()
    for session in (few, many):
        session.fs.write(_GROWING, profile().replace("id: anxious-achiever", "id: growing-notes"))
    for number in range(_WARM_UP_ROUNDS + _GROWTH_ROUNDS):
        if number == _WARM_UP_ROUNDS:
            watch.warmed_up()
        watch.take("few", partial(_patch, few, _GROWING))
        watch.take("many", partial(_patch, many, _GROWING))
    title = f"md.patch_section: {_MANY_EVENTS} events, {_MANY_COPIES} copies / none"
    yield watch.ratio(title, "many", "few", at_most=1.2)


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


def _patch(session: Session, path: str) -> None:
    words = f"- Says yes before looking at the week\n- Can't sleep then, {secrets.token_hex(4)}\n"
    answer = session.call(
        "md.patch_section",
        {
            "path": path,
            "sectionAnchor": "concerns v1",
            "change": {"replace": words},
            "rationale": "She said so.",
        },
    )
    if not answer["ok"]:
        raise RuntimeError(answer["error"]["message"])


class _Floor:
    """The minimum that a recorded edit takes."""

    def __init__(self, connection: psycopg.Connection[tuple[int]], home: Path) -> None:
        self._connection = connection
        self._folder = home / "floor"
        self._folder.mkdir()
        self._live = self._folder / "profile.md"
        self._live.write_text(profile())
        connection.execute(
            "create table public.floor "
            "(id bigserial primary key, path text, words text, status text, at timestamptz)"
        )

    def edit(self) -> None:
        words = f"- Can't sleep then, {secrets.token_hex(4)}\n"
        old = self._live.read_bytes()
        row = self._connection.execute(
            "insert into public.floor (path, words, status, at) "
            "values (%s, %s, 'pending', now()) returning id",
            ("profile.md", words),
            prepare=True,
        ).fetchone()
        self._put(self._folder / f"copy-{secrets.token_hex(8)}.md", old)
        fresh = self._folder / ".new"
        self._put(fresh, old + words.encode() if len(old) < 7000 else profile().encode())
        fresh.rename(self._live)
        self._sync_folder()
        self._connection.execute(
            "update public.floor set status = 'committed' where id = %s", row, prepare=True
        )

    def _put(self, file: Path, content: bytes) -> None:
        with file.open("wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())

    def _sync_folder(self) -> None:
        handle = os.open(self._folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


class _Git:
    """The same edit, committed with git."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "git"
        self._folder.mkdir()
        self._file = self._folder / "profile.md"
        self._git("init", "-q")
        self._git("config", "user.name", "sample")
        self._git("config", "user.email", "sample@localhost")

    def edit(self) -> None:
        self._file.write_text(profile() + secrets.token_hex(8))
        self._git("add", "profile.md")
        self._git("commit", "-q", "-m", "edit")

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", self._folder, *arguments], check=True)
