"""The files of a home, opened in both ways: in one call, and step by step."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from garden.files.garden_files import GardenFiles
from garden.home.folder import Home
from tests.support.folders import PREFIX, fresh_folder


@pytest.fixture(scope="session")
def disk_folder() -> Iterator[Path]:
    """A folder on the disk that every account may pass through."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as path:
        Path(path).chmod(0o711)
        yield Path(path)


@pytest.fixture
def folder(disk_folder: Path) -> Iterator[Path]:
    """A folder for one test, on the disk instead of in memory."""
    with fresh_folder(disk_folder) as path:
        yield path


@pytest.fixture(params=[False, True], ids=["at once", "step by step"])
def files(home: Home, request: pytest.FixtureRequest) -> Iterator[GardenFiles]:
    """The files of a home; every test that takes them runs twice."""
    with GardenFiles(home.path, step_by_step=request.param) as opened:
        yield opened
