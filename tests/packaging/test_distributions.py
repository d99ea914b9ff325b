"""The wheel and the sdist hold what a user needs and nothing else, under one import name."""

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import garden

REPOSITORY = Path(__file__).parents[2]
TOPS = ("garden", "grammar", "events", "lint", "migrations", "sample_users")
BESIDE_THE_PACKAGE = {".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
_RUN_FROM = """
import sys
import garden
from garden.surfaces.cli.main import main
assert garden.__file__.startswith(sys.argv.pop(1))
main()
"""


def build(folder: Path) -> tuple[Path, Path]:
    """Build the wheel and the sdist into a folder."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", folder],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
    )
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(distributions: tuple[Path, Path]) -> Path:
    return distributions[0]


def files_of_the_package() -> set[str]:
    places = {"garden": "", "deploy/systemd": "units"}
    return {
        str(Path("garden", places.get(top, top), path.relative_to(REPOSITORY / top)))
        for top in (*TOPS, "deploy/systemd")
        for path in (REPOSITORY / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_the_package_and_no_other_import_name(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert files_of_the_package() == {name for name in names if ".dist-info/" not in name}
    assert "garden/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_sdist_holds_the_package_and_what_builds_it(distributions: tuple[Path, Path]) -> None:
    with tarfile.open(distributions[1]) as archive:
        members = archive.getmembers()
    assert all(member.isfile() for member in members)
    assert {
        member.name.partition("/")[2] for member in members
    } == files_of_the_package() | BESIDE_THE_PACKAGE


def test_twine_accepts_both(distributions: tuple[Path, Path]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *distributions],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2


def test_the_description_has_absolute_links_only(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
    described = message_from_bytes(archive.read(metadata))
    links = re.findall(r"\]\(([^)]+)\)", str(described.get_payload()))
    assert len(links) > 10
    assert [link for link in links if not link.startswith("https://")] == []
    assert described.get_all("Project-URL")


def test_the_description_and_the_entry_of_the_registry_agree(wheel: Path) -> None:
    server = json.loads((REPOSITORY / "server.json").read_text("utf-8"))
    [package] = server["packages"]
    assert server["version"] == package["version"] == garden.__version__
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
    described = message_from_bytes(archive.read(metadata))
    assert described["Name"] == package["identifier"]
    assert f"<!-- mcp-name: {server['name']} -->" in str(described.get_payload())


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(wheel).extractall(target)  # noqa: S202 - built a moment ago from this tree
    return target


def test_the_demonstration_works_away_from_the_checkout(installed: Path, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _RUN_FROM, installed, "demo"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(installed), "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "24 documents imported" in done.stdout
