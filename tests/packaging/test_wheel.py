"""What a user installs: the wheel holds everything the program needs, and works away from the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
_RUN_FROM = """
import sys
import garden
from garden.cli.main import main
assert garden.__file__.startswith(sys.argv.pop(1))
main()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", target],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
    )
    (built,) = target.glob("*.whl")
    return built


PACKAGES = ("garden", "grammar", "events", "lint", "migrations")


def test_it_holds_every_file_of_the_packages(wheel: Path) -> None:
    there = {
        str(path.relative_to(REPOSITORY))
        for package in PACKAGES
        for path in (REPOSITORY / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    names = set(zipfile.ZipFile(wheel).namelist())
    assert there == {name for name in names if ".dist-info/" not in name}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_it_works_away_from_the_checkout(
    wheel: Path, tmp_path: Path, folder: Path, empty_database: str
) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    environment = os.environ | {
        "PYTHONPATH": str(tmp_path),
        "GARDEN_HOME": str(folder / "home"),
        "GARDEN_DATABASE_URL": empty_database,
    }
    done = subprocess.run(
        [sys.executable, "-c", _RUN_FROM, tmp_path, "init"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Applied migration 0001" in done.stderr
