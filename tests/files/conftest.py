"""The files of a home, opened in one call, step by step, and as where the calls of Linux are missing."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from garden.files import garden_files, garden_folders
from garden.files.beneath import READ_FILE
from garden.files.garden_files import GardenFiles
from garden.home import platform_features
from garden.home.folder import Home
from tests.support.folders import PREFIX, fresh_folder
from tests.support.portable import OFF


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


@pytest.fixture(params=["at once", "step by step", "portable"])
def files(
    home: Home, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[GardenFiles]:
    """The files of a home; every test that takes them runs three times."""
    if request.param == "portable":
        for name, value in OFF.items():
            monkeypatch.setattr(platform_features, name, value)
        for module in (garden_files, garden_folders):
            monkeypatch.setattr(module, "LOOK", READ_FILE)
    with GardenFiles(home.path, step_by_step=request.param == "step by step") as opened:
        yield opened
