"""The contracts on imports, each proven by breaking it in a copy of the packages."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
TOPS = ("garden", "events", "lint", "grammar")


def check_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    program = "from importlinter.cli import lint_imports_command as check; check()"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-logo", "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    for top in TOPS:
        shutil.copytree(
            REPOSITORY / top, tmp_path / top, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_packages_keep_every_contract(copied: Path) -> None:
    done = check_imports(copied)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("grammar/errors.py", "import garden.lint", "Imports point one way"),
        ("grammar/errors.py", "import garden.events", "Imports point one way"),
        ("lint/__init__.py", "import garden.events.keyring", "Imports point one way"),
        ("events/keyring.py", "import garden.lint", "Imports point one way"),
        ("events/keyring.py", "import garden.home.settings", "Imports point one way"),
        ("lint/__init__.py", "import garden.application", "Imports point one way"),
        ("grammar/errors.py", "import psycopg", "Grammar and lint touch no disk"),
        ("lint/__init__.py", "from cryptography.hazmat import primitives", "Grammar and lint touch no disk"),
        ("grammar/errors.py", "def late():\n    import dramatiq", "Grammar and lint touch no disk"),
        ("grammar/errors.py", "from pathlib import Path", "Grammar and lint touch no disk"),
        ("lint/__init__.py", "import socket", "Grammar and lint touch no disk"),
        ("grammar/errors.py", "from datetime import datetime", "Grammar and lint touch no disk"),
        ("garden/home/folder.py", "def late():\n    import psycopg", "Only events imports psycopg"),
        ("garden/surfaces/cli/render.py", "from psycopg import sql", "Only events imports psycopg"),
        ("garden/upkeep/doctor.py", "from garden.surfaces.cli import render", "Nothing imports a surface"),
        ("garden/surfaces/cli/render.py", "import garden.surfaces.web", "Nothing imports a surface"),
        ("garden/surfaces/web/__init__.py", "import garden.surfaces.mcp", "Nothing imports a surface"),
        ("garden/surfaces/cli/render.py", "import garden.writing.versions", "Surfaces use the dispatcher"),
        (
            "garden/surfaces/mcp/server.py",
            "from garden.files import garden_files",
            "Surfaces use the dispatcher",
        ),
        ("garden/home/folder.py", "def late():\n    import garden.home.embedded.server", "No import cycles"),
        ("garden/application.py", "import garden.integrations.opening", "Nothing imports a surface"),
        ("garden/integrations/anthropic.py", "import garden.writing.versions", "Adapters use sessions"),
        ("garden/integrations/anthropic.py", "import garden.integrations.langgraph", "No adapter imports"),
    ],
)
def test_a_violation_breaks_its_contract(copied: Path, module: str, line: str, contract: str) -> None:
    with (copied / module).open("a") as file:
        file.write(f"\n{line}\n")
    done = check_imports(copied)
    assert done.returncode == 1, done.stdout
    broken = [row for row in done.stdout.splitlines() if " BROKEN" in row]
    assert any(row.startswith(contract) for row in broken), done.stdout


def test_importing_any_module_touches_nothing_outside() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT_EVERYTHING_UNDER_WATCH, "garden"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


# Files may be read (that is how modules load); writing, connecting and starting processes may not happen.
_IMPORT_EVERYTHING_UNDER_WATCH = """
import importlib, os, pkgutil, sys
sys.dont_write_bytecode = True
FORBIDDEN = {"socket.connect", "socket.bind", "subprocess.Popen", "os.system", "os.fork",
             "os.mkdir", "os.rename", "os.remove", "os.chmod"}
def watch(event, arguments):
    writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    if event in FORBIDDEN or (writes and arguments[0] != os.devnull):
        raise SystemExit(f"importing did {event} {arguments}")
names = [name for package in sys.argv[1:] for name in [package] + [
    module.name for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + ".")]
    # An adapter imports its framework, which is installed elsewhere.
    if not name.endswith("__main__") and not name.startswith("garden.integrations.")]
sys.addaudithook(watch)
for name in names:
    importlib.import_module(name)
print(len(names))
"""
