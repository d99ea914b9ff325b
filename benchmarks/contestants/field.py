"""The contestants of one run, each with its documents in place, on one disk and one Postgres."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contestants.clients import Client, Driver, GardenHttp, basic_memory, file_server, garden_mcp
from benchmarks.contestants.installing import LeftOutError, Package, package
from benchmarks.work import kind_with_more_sections
from garden.events.database import connection
from garden.home.folder import Home

Place = Callable[[Path, str], None]


@dataclass(frozen=True)
class Ground:
    """A home, its database server, and the way to put a user's documents into a folder."""

    home: Home
    server: str
    place: Place

    def garden(self, user: str) -> Path:
        return self._folder(self.home.users / user)

    def others(self, *names: str) -> Path:
        return self._folder(self.home.path.joinpath("others", *names))

    def database(self, name: str) -> str:
        address, _, options = self.server.partition("?")
        with connection(self.server) as opened:
            opened.execute(f"create database {name}".encode())
        return f"{address.rpartition('/')[0]}/{name}?{options}"

    def _folder(self, folder: Path) -> Path:
        folder.mkdir(parents=True, mode=0o700)
        self.place(folder, folder.name)
        return folder


@dataclass(frozen=True)
class Contestant:
    """One way to edit a document and read it back."""

    name: str
    title: str
    does: str
    start: Callable[[Ground, Package | None], Client]
    package: str | None = None
    together: bool = True


@dataclass(frozen=True)
class Started:
    """A contestant that runs, and the versions of its packages."""

    contestant: Contestant
    client: Client
    versions: str


def _driver(kind: str, below: str = "") -> Callable[[Ground, Package | None], Client]:
    """Return what starts a library in its own environment, or in ours."""

    def start(ground: Ground, installed: Package | None) -> Client:
        python = installed.program("python") if installed else sys.executable
        database = ground.database(installed.name) if installed else ground.server
        folder = ground.others(kind, below)
        return Driver(python, kind, folder.parent if below else folder, database)

    return start


def _garden(ground: Ground, _: Package | None) -> Client:
    return Driver(sys.executable, "in_garden.Contestant", ground.garden("in-process"), ground.server)


def _garden_mcp(ground: Ground, _: Package | None) -> Client:
    return garden_mcp(ground.home.path, ground.garden("over-mcp").name)


def _garden_http(ground: Ground, _: Package | None) -> Client:
    return GardenHttp(ground.home.path, ground.garden("over-http").name)


def _file_server(ground: Ground, installed: Package | None) -> Client:
    assert installed is not None
    program = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
    return file_server(installed.folder / program, ground.others("file-server").resolve())


def _basic(ground: Ground, installed: Package | None) -> Client:
    assert installed is not None
    state = ground.home.path / "basic-memory-state"
    state.mkdir()
    return basic_memory(installed.program("basic-memory"), ground.others("basic-memory"), state)


_TOOL = _driver("in_memory_tool.Contestant", "memories")
_DBOS, _EVENTS = _driver("in_dbos.Contestant"), _driver("in_eventsourcing.Contestant")
_FLOOR, _GIT = _driver("in_floor.Contestant"), _driver("in_git.Contestant")
_SAFEST_GIT = _driver("in_git.SafestContestant")
_ALL, _NOTHING = "synced, checked, recorded, sealed", "neither synced nor recorded"

CONTESTANTS = (
    Contestant("garden", "Memory Garden, in process", _ALL, _garden),
    Contestant("garden-mcp", "Memory Garden, over MCP", _ALL, _garden_mcp),
    Contestant("garden-http", "Memory Garden, over HTTP", _ALL, _garden_http),
    Contestant("floor", "The floor, by hand", "synced, recorded, not checked", _FLOOR, together=False),
    Contestant("git", "git add and commit", "recorded, not synced", _GIT),
    Contestant("safest-git", "git, all synced", "recorded, synced", _SAFEST_GIT),
    Contestant("edit_file", "MCP server-filesystem", _NOTHING, _file_server, "file-server"),
    Contestant("memory-tool", "Anthropic SDK, memory tool", "file synced, not recorded", _TOOL, "anthropic"),
    Contestant("basic-memory", "basic-memory, over MCP", "SQLite; file not synced", _basic, "basic-memory"),
    Contestant("dbos", "dbos, a workflow", "synced, each step recorded", _DBOS, "dbos", together=False),
    Contestant("events", "eventsourcing", "recorded, no file", _EVENTS, "eventsourcing", together=False),
)  # fmt: skip


@contextmanager
def field(ground: Ground) -> Iterator[list[Started]]:
    """Start every contestant that can be installed; name each that is left out, and why."""
    kinds = ground.home.path / "kinds"
    kinds.mkdir(exist_ok=True, mode=0o700)
    (kinds / "part_profile.toml").write_text(kind_with_more_sections())
    with ExitStack() as stack:
        started = []
        for each in CONTESTANTS:
            try:
                installed = package(each.package) if each.package else None
                client = each.start(ground, installed)
            except (LeftOutError, EOFError, OSError) as error:
                print(f"  (left out: {each.title}: {error})", flush=True)
                continue
            stack.callback(client.close)
            started.append(Started(each, client, installed.versions if installed else ""))
        yield started
