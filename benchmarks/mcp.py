"""MCP over stdio: edits and reads, compared with the protocol's own server for plain files.

`edit_file` of the npm package @modelcontextprotocol/server-filesystem writes a file, unsynced and unrecorded;
`md_patch_section` is durable, planned, linted, sealed and recorded. Both servers start, talk to the same
minimal client, and edit a copy of the same profile in turns. It needs node and npm; GARDEN_BENCH_NPM names
a folder in which the package is already installed.
"""

import json
import os
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.profiles import profile
from benchmarks.ratios import Ratio, Stopwatch
from garden.application import open_garden
from garden.demo.throw_away import throw_away_home
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home
from tests.support.mcp_lines import INITIALIZE, Lines

PACKAGE = "@modelcontextprotocol/server-filesystem"
_USER = "sample-user"
_WARM_UP_ROUNDS = 30
_ROUNDS = 300
_EDITS_OF_A_DOCUMENT = 5
_STARTS = 5
_GREETING_SECONDS_MAX = 1.5


def measure() -> Iterator[Ratio]:
    if shutil.which("npm") is None:
        print("MCP: skipped, because npm is not installed.")
        return
    with throw_away_home() as home:
        with open_garden(home.path) as garden:
            session = garden.session(_USER)
            for number in range((_WARM_UP_ROUNDS + _ROUNDS) // _EDITS_OF_A_DOCUMENT + 1):
                text = profile().replace("id: anxious-achiever", f"id: part-{number}")
                session.fs.write(_path(number), text)
        with _files() as plain, Lines(_server(), _environment(home)) as ours:
            ours.greet()
            plain.server.greet()
            yield from _side_by_side(ours, plain)
        yield _greeting(home)


def _side_by_side(ours: Lines, plain: "_PlainFiles") -> Iterator[Ratio]:
    watch = Stopwatch()
    for number in range(_WARM_UP_ROUNDS + _ROUNDS):
        if number == _WARM_UP_ROUNDS:
            watch.warmed_up()
        document = number // _EDITS_OF_A_DOCUMENT
        words = f"- Can't sleep then, {secrets.token_hex(4)}"
        watch.take("patch", partial(_patch, ours, document, words))
        watch.take("edit", partial(plain.edit, document, words))
        watch.take("read", partial(_read, ours, document))
        watch.take("read text", partial(plain.read, document))
    yield watch.ratio("MCP: md_patch_section / edit_file", "patch", "edit", at_most=2)
    yield watch.ratio("MCP: fs_read / read_text_file", "read", "read text", at_most=1.5)


def _greeting(home: Home) -> Ratio:
    taken = []
    for _ in range(_STARTS):
        EmbeddedPostgres(home).stop()
        started = time.perf_counter()
        with Lines(_server(), _environment(home)) as server:
            server.ask("initialize", INITIALIZE)
            taken.append(time.perf_counter() - started)
    name = "MCP: initialize, from a cold start without a database, in seconds"
    return Ratio(name, statistics.median(taken), _GREETING_SECONDS_MAX)


def _server() -> list[str]:
    return [sys.executable, "-m", "garden", "mcp", "--user", _USER, "--actor", "companion"]


def _environment(home: Home) -> dict[str, str]:
    return {**os.environ, "GARDEN_HOME": str(home.path), "GARDEN_LOG_LEVEL": "error"}


def _path(number: int) -> str:
    return f"users/{_USER}/parts/part-{number}/profile.md"


def _patch(server: Lines, number: int, words: str) -> None:
    result = server.call(
        "md_patch_section",
        path=_path(number),
        sectionAnchor="concerns v1",
        change={"replace": f"- Says yes before looking at the week\n{words}\n"},
        rationale="She said so.",
    )
    if result["isError"]:
        raise RuntimeError(result["content"][0]["text"])


def _read(server: Lines, number: int) -> None:
    if server.call("fs_read", path=_path(number))["isError"]:
        raise RuntimeError("the document can't be read")


class _PlainFiles:
    """The server for plain files, and its folder."""

    def __init__(self, server: Lines, folder: Path) -> None:
        self.server = server
        self._folder = folder
        self._standing: dict[int, str] = {}

    def edit(self, number: int, words: str) -> None:
        file = self._file(number)
        edit = {"oldText": self._standing[number], "newText": words}
        result = self.server.call("edit_file", path=str(file), edits=[edit])
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        self._standing[number] = words

    def read(self, number: int) -> None:
        if self.server.call("read_text_file", path=str(self._file(number))).get("isError"):
            raise RuntimeError("the file can't be read")

    def _file(self, number: int) -> Path:
        file = self._folder / f"part-{number}.md"
        if number not in self._standing:
            file.write_text(profile())
            self._standing[number] = _LINE
        return file


# The first item of the edited section.
_LINE = next(line for line in profile().split("## Concerns\n", 1)[1].splitlines() if line.startswith("- "))


@contextmanager
def _files() -> Iterator[_PlainFiles]:
    folder = Path(tempfile.mkdtemp(prefix="garden-bench-")).resolve()
    try:
        served = folder / "served"
        served.mkdir()
        with Lines(["node", _program(folder), str(served)], stderr=subprocess.DEVNULL) as server:
            yield _PlainFiles(server, served)
    finally:
        shutil.rmtree(folder)


def _program(folder: Path) -> Path:
    """Find the server's program; install its package where no folder with it is named."""
    installed = os.environ.get("GARDEN_BENCH_NPM")
    root = Path(installed) if installed else folder
    if not installed:
        subprocess.run(
            ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", root, PACKAGE], check=True
        )
    package = root / "node_modules" / PACKAGE
    described = json.loads((package / "package.json").read_text("utf-8"))
    programs: dict[str, str] = described["bin"]
    return package / next(iter(programs.values()))
