"""The same work by the garden, by hand, and by others, in one run: times, syncs, round trips, lost edits.

Each round asks every contestant once, in an order that changes, so that a noisy machine hits all alike.
"""

import json
import os
import platform
import random
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg

from benchmarks.contestants.counting import count
from benchmarks.contestants.field import Ground, Started, field
from benchmarks.contestants.in_floor import put
from benchmarks.contestants.installing import RESULTS
from benchmarks.ratios import Ratio, once, quantile
from benchmarks.work import Edit, first_edit, next_edit, notes, profile
from garden.demo.throw_away import throw_away_home
from garden.events.database import connection
from garden.events.migrations import migrate
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home

_ROUNDS = int(os.environ.get("GARDEN_BENCH_ROUNDS", "300"))
_WARM_UP_ROUNDS = 20
_EDITS_OF_A_DOCUMENT = 5
_COUNTED_EDITS = 10
_CROWDS = 3
_CROWD = 20

Figures = dict[str, dict[str, Any]]


def measure() -> Iterator[Ratio]:
    with throw_away_home() as home:
        server = EmbeddedPostgres(home).ensure_running()
        with connection(server) as opened:
            migrate(opened)
            machine = _machine(opened.info.server_version)
        with field(Ground(home, server, _place)) as started, _Parts(server, home) as parts:
            runs = [_Run(each) for each in started]
            _rounds(runs, parts)
            for run in runs:
                run.count(_postmaster(home))
                run.crowd()
            results = {
                "machine": machine,
                "contestants": {run.name: run.figures for run in runs},
                "parts": parts.seconds,
            }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(results))
    yield from _bounds(results["contestants"])


def _bounds(figures: Figures) -> Iterator[Ratio]:
    for title, what, ours, theirs, share, reach in (
        ("section edit / hand-written floor, p50", "edit", "garden", "floor", 0.5, 1.25),
        ("section edit / hand-written floor, p99", "edit", "garden", "floor", 0.99, 1.25),
        ("MCP: md_patch_section / edit_file, p50", "edit", "garden-mcp", "edit_file", 0.5, 2),
        ("MCP: fs_read / read_text_file, p50", "read", "garden-mcp", "edit_file", 0.5, 1.3),
        ("git add and commit / section edit, p50", "edit", "git", "garden", 0.5, 5),
        ("dbos workflow / section edit, p50", "edit", "dbos", "garden", 0.5, 2),
    ):
        if ours in figures and theirs in figures:
            dividend, divisor = (quantile(figures[name][what], share) for name in (ours, theirs))
            took = f"{dividend * 1000:.2f} / {divisor * 1000:.2f} ms"
            yield Ratio(title, dividend / divisor, reach, more_is_better=theirs == "garden", detail=took)


def _rounds(runs: list["_Run"], parts: "_Parts") -> None:
    order = random.Random(1)  # noqa: S311 - any order will do
    for run in runs:
        run.begin()
    for number in range(_WARM_UP_ROUNDS + _ROUNDS):
        if number == _WARM_UP_ROUNDS:
            parts.warmed_up()
            for run in runs:
                run.warmed_up()
        for run in order.sample(runs, len(runs)):
            run.take(_document(number // _EDITS_OF_A_DOCUMENT))
        parts.take()


class _Run:
    """One contestant's documents and figures."""

    def __init__(self, started: Started) -> None:
        self._client, contestant = started.client, started.contestant
        self._contestant = contestant
        self.name = contestant.name
        self._edits: dict[str, Edit] = {}
        self.figures: dict[str, Any] = {"title": contestant.title, "does": contestant.does}
        self.figures |= {"timed": started.client.timed, "versions": started.versions}
        self.warmed_up()

    def begin(self) -> None:
        """Edit each document once: the first call on a file that came from outside costs more."""
        for document in _documents():
            self._edits[document] = first_edit(document, "Concerns")
            self._edit(document)

    def warmed_up(self) -> None:
        self.figures |= {"edit": [], "read": [], "cpu": []}

    def take(self, document: str) -> None:
        words = self._edits[document].new
        took = self._edit(document)
        self.figures["edit"].append(took.seconds)
        self.figures["cpu"] += [took.cpu] if took.cpu is not None else []
        took, text = self._client.read(document)
        self.figures["read"].append(took.seconds)
        if not _holds(text, words):
            raise RuntimeError(f"{self.name}: the new words can't be read back")

    def count(self, server: int) -> None:
        """Count system calls in a pass of its own: tracing slows them down."""
        document = _document(0)
        process = self._client.process.pid
        cost = count(lambda: self._edit(document), _COUNTED_EDITS, process, server)
        self.figures["cost"] = cost and cost._asdict()
        if cost is None:
            print(f"  (not counted: the syncs of {self.name}; strace is missing or may not trace)")

    def crowd(self) -> None:
        """Make twenty edits of twenty sections at once, and look which of them are there."""
        if not self._contestant.together:
            return
        tally = {"sent": 0, "acknowledged": 0, "kept": 0, "lost": 0}
        for number in range(_CROWDS):
            document = _crowded(number)
            self._client.edit(first_edit(document, f"Theme {_CROWD}"))
            edits = [first_edit(document, f"Theme {theme}") for theme in range(_CROWD)]
            acknowledged = self._client.together(edits)
            _, text = self._client.read(document)
            kept = [_holds(text, edit.new) for edit in edits]
            tally["sent"] += len(edits)
            tally["acknowledged"] += sum(acknowledged)
            tally["kept"] += sum(kept)
            tally["lost"] += sum(yes and not there for yes, there in zip(acknowledged, kept, strict=True))
        self.figures["crowd"] = tally

    def _edit(self, document: str) -> Any:
        took = self._client.edit(self._edits[document])
        self._edits[document] = next_edit(self._edits[document])
        return took


class _Parts:
    """What the parts of an edit cost by themselves."""

    def __init__(self, server: str, home: Home) -> None:
        self._connection = psycopg.connect(server, autocommit=True)
        self._connection.execute("create table public.bare (words text)")
        self._folder = home.path / "others" / "parts"
        self._folder.mkdir(parents=True)
        self._content = profile("part", "bare").encode()
        self.warmed_up()

    def __enter__(self) -> "_Parts":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def warmed_up(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    def take(self) -> None:
        file = self._folder / f"{secrets.token_hex(8)}.md"
        handle = os.open(self._folder, os.O_RDONLY)
        for name, work in (
            ("a round trip to Postgres", lambda: self._ask("select 1")),
            ("a durable commit of one row", lambda: self._ask("insert into public.bare values ('words')")),
            ("a new file of 6 KB, synced", lambda: put(file, self._content)),
            ("a sync of the file's folder", lambda: os.fsync(handle)),
        ):
            self.seconds.setdefault(name, []).append(once(work))
        os.close(handle)

    def _ask(self, statement: str) -> object:
        return self._connection.execute(statement.encode(), prepare=True)


def _place(folder: Path, user: str) -> None:
    """Put a user's documents into a folder, as an import would."""
    texts = {document: profile(Path(document).parent.name, user) for document in _documents()}
    texts |= {_crowded(number): notes(f"crowd-{number}", user, _CROWD + 1) for number in range(_CROWDS)}
    for document, text in texts.items():
        file = folder / document
        for new in (folder / "parts", file.parent):
            new.mkdir(exist_ok=True, mode=0o700)
        file.write_text(text)
        file.chmod(0o600)


def _documents() -> list[str]:
    return [_document(number) for number in range((_WARM_UP_ROUNDS + _ROUNDS) // _EDITS_OF_A_DOCUMENT + 1)]


def _document(number: int) -> str:
    return f"parts/part-{number}/profile.md"


def _crowded(number: int) -> str:
    return f"parts/crowd-{number}/notes.md"


def _holds(text: str, words: str) -> bool:
    # One of the contestants answers with JSON, one with numbered lines.
    return words.rstrip().rpartition(", ")[2] in text


def _postmaster(home: Home) -> int:
    return int(next(home.path.rglob("postmaster.pid")).read_text().split()[0])


def _machine(postgres: int) -> dict[str, Any]:
    return {
        "cores": psutil.cpu_count(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "postgres": f"{postgres // 10000}.{postgres % 10000}",
        "git": subprocess.run(["git", "version"], capture_output=True, text=True, check=True).stdout.strip(),
        "load": psutil.getloadavg()[0],
    }
