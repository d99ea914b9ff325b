"""Fixtures for all tests: a folder for the run, one Postgres server, and a fresh database for each test."""

import gc
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import structlog

from garden.application import Garden
from garden.home.folder import Home, ensure_home
from tests.support.accounts import Account, account_on
from tests.support.crowd import Crowd, crowd_in
from tests.support.databases import OUTSIDE, KeptDatabase, TestServer
from tests.support.folders import ROOT, fresh_folder, make_run_folder, run_folder
from tests.support.planted import opened, put_database
from tests.support.progress import ProgressPlugin

# Python looks after every 700 objects; a test makes tens of thousands.
_OBJECTS_MADE = 50_000
_GUARDIAN = pytest.StashKey[subprocess.Popen[bytes]]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the run's folder once for all workers, and start the guardian that removes it."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    root = make_run_folder()
    os.environ[ROOT] = str(root)
    config.stash[_GUARDIAN] = subprocess.Popen(
        [sys.executable, "-m", "tests.support.guardian", root],
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Show progress by package instead of by dots; pytest's own -v and -q keep their form."""
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    if reporter and reporter.verbosity == 0 and "PYTEST_XDIST_WORKER" not in os.environ:
        session.config.pluginmanager.register(ProgressPlugin(reporter))


def pytest_collection_finish() -> None:
    """Spare the collector the modules and items of the whole run, which it went through again and again."""
    gc.freeze()
    gc.set_threshold(_OBJECTS_MADE, *gc.get_threshold()[1:])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let the guardian clean up, and wait for it."""
    guardian = config.stash.get(_GUARDIAN, None)
    if guardian is None:
        return
    if os.environ.get(OUTSIDE) and (run_folder() / "template-is-ready").exists():
        TestServer(run_folder()).drop_all()
    guardian.communicate()


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the developer's own settings from the tests."""
    for name in [
        name for name in os.environ if name.startswith("GARDEN_") and not name.startswith("GARDEN_TEST_")
    ]:
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _logging_restored() -> Iterator[None]:
    """Put logging back after a test: commands that run in this process configure it."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for one test."""
    with fresh_folder(run_folder()) as path:
        yield path


@pytest.fixture
def home(folder: Path) -> Home:
    """A garden home; a server started in it stops after the test."""
    return ensure_home(folder / "home")


@pytest.fixture(scope="session")
def server() -> TestServer:
    """The run's Postgres server."""
    return TestServer(run_folder())


@pytest.fixture
def empty_database(server: TestServer) -> Iterator[str]:
    """The address of an empty database."""
    with server.database() as url:
        yield url


@pytest.fixture
def database(request: pytest.FixtureRequest, server: TestServer) -> Iterator[str]:
    """The address of a migrated database without a row: the worker's, or by a mark one of the test's own."""
    if request.node.get_closest_marker("own_database"):
        with server.database(server.template()) as url:
            yield url
    else:
        kept: KeptDatabase = request.getfixturevalue("kept_database")
        kept.clear()
        yield kept.url


@pytest.fixture(scope="session")
def kept_database(server: TestServer) -> Iterator[KeptDatabase]:
    """The migrated database that this worker's tests use one by one."""
    with server.database(server.template()) as url, closing(KeptDatabase(url)) as kept:
        yield kept


@pytest.fixture
def account(database: str) -> Iterator[Account]:
    """An account in a fresh database."""
    with account_on(database) as opened:
        yield opened


@pytest.fixture
def ready_home(home: Home, database: str) -> Home:
    """A garden home with a fresh database; other processes may open it too."""
    put_database(home, database)
    return home


@pytest.fixture
def garden(ready_home: Home) -> Iterator[Garden]:
    """An open, empty garden."""
    with opened(ready_home) as garden:
        yield garden


@pytest.fixture(scope="session")
def processes() -> Iterator[Crowd]:
    """A process that forks others; `Crowd.at` gives it a home."""
    with crowd_in(Path("/")) as crowd:
        yield crowd


@pytest.fixture
def crowd(garden: Garden, processes: Crowd) -> Crowd:
    """Processes that call tools in the garden, and may be killed."""
    return processes.at(garden.home.path)
