"""The files of a home, reached in both ways: by one call of the kernel, and step by step."""

from collections.abc import Iterator

import pytest

from garden.files.garden_files import GardenFiles
from garden.home.folder import Home


@pytest.fixture(params=[False, True], ids=["at once", "step by step"])
def files(home: Home, request: pytest.FixtureRequest) -> Iterator[GardenFiles]:
    """The files of a home; every test that takes them runs twice."""
    with GardenFiles(home.path, step_by_step=request.param) as opened:
        yield opened
