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
from garden.surfaces.cli.main import main
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


TOPS = ("garden", "grammar", "events", "lint", "migrations", "sample_users")


def test_it_holds_every_file_of_the_packages(wheel: Path) -> None:
    there = {
        str(Path("garden", "" if top == "garden" else top, path.relative_to(REPOSITORY / top)))
        for top in TOPS
        for path in (REPOSITORY / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    names = set(zipfile.ZipFile(wheel).namelist())
    assert there == {name for name in names if ".dist-info/" not in name}
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(wheel).extractall(target)
    return target


def run(installed: Path, folder: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"PYTHONPATH": str(installed), "GARDEN_HOME": str(folder / "home"), **more}
    return subprocess.run(
        [sys.executable, "-c", _RUN_FROM, installed, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_works_away_from_the_checkout(installed: Path, folder: Path, empty_database: str) -> None:
    done = run(installed, folder, "init", GARDEN_DATABASE_URL=empty_database)
    assert done.returncode == 0, done.stderr
    assert "Applied migration 0001" in done.stderr


def test_its_demonstration_works_away_from_the_checkout(installed: Path, folder: Path) -> None:
    done = run(installed, folder, "demo", TMPDIR=str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "24 documents imported" in done.stdout
