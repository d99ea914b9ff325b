"""The test ground: a folder for the whole run, a Postgres server, and a database of its own for each test."""

import logging
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from garden.application import Garden
from garden.home.folder import Home, ensure_home
from tests.support.accounts import Account, account_on
from tests.support.databases import OUTSIDE, TestServer
from tests.support.planted import opened, put_database

_ROOT = "GARDEN_TEST_ROOT"
_GUARDIAN = pytest.StashKey[subprocess.Popen[bytes]]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the run's folder, once for all workers, and a guardian that cleans up even after a kill."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    root = Path(tempfile.mkdtemp(prefix="garden-tests-"))
    # As root, the server's own account has to pass through.
    root.chmod(0o711)
    os.environ[_ROOT] = str(root)
    config.stash[_GUARDIAN] = subprocess.Popen(
        [sys.executable, "-m", "tests.support.guardian", root],
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let the guardian clean up, and wait until it has."""
    guardian = config.stash.get(_GUARDIAN, None)
    if guardian is None:
        return
    root = Path(os.environ[_ROOT])
    if os.environ.get(OUTSIDE) and (root / "template-is-ready").exists():
        TestServer(root).drop_all()
    guardian.communicate()


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        name for name in os.environ if name.startswith("GARDEN_") and not name.startswith("GARDEN_TEST_")
    ]:
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _logs_go_where_they_went() -> Iterator[None]:
    """A command that runs in this process sets the logs up for itself, and not for the tests after it."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def folder() -> Path:
    """A folder that exists, below the run's own."""
    path = Path(os.environ[_ROOT]) / secrets.token_hex(6)
    path.mkdir()
    path.chmod(0o711)
    return path


@pytest.fixture
def home(folder: Path) -> Home:
    """A garden home; a server that is started in it is stopped when the run ends."""
    return ensure_home(folder / "home")


@pytest.fixture(scope="session")
def server() -> TestServer:
    """The run's Postgres server."""
    return TestServer(Path(os.environ[_ROOT]))


@pytest.fixture
def empty_database(server: TestServer) -> Iterator[str]:
    """The address of a database with nothing in it."""
    with server.database() as url:
        yield url


@pytest.fixture
def database(server: TestServer) -> Iterator[str]:
    """The address of a migrated database."""
    with server.database(server.template()) as url:
        yield url


@pytest.fixture
def account(database: str) -> Iterator[Account]:
    """An account on a database of its own."""
    with account_on(database) as opened:
        yield opened


@pytest.fixture
def ready_home(home: Home, database: str) -> Home:
    """A garden home on a database of its own, for this process and any other."""
    put_database(home, database)
    return home


@pytest.fixture
def garden(ready_home: Home) -> Iterator[Garden]:
    """An open garden with nothing in it."""
    with opened(ready_home) as garden:
        yield garden
