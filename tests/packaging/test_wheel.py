"""What a user installs: the wheel holds everything the program needs, and works away from the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from events.migrations import shipped_migrations

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


def test_it_holds_the_migrations_the_statements_and_the_type_markers(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    shipped = {f"migrations/{each.version:04d}_{each.name}.sql" for each in shipped_migrations()}
    statements = {f"events/sql/{path.name}" for path in (REPOSITORY / "events/sql").glob("*.sql")}
    markers = {f"{package}/py.typed" for package in ("garden", "grammar", "events", "lint")}
    assert shipped | statements | markers <= names
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
