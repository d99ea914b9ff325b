"""Installs the contestants of others, each into an environment of its own that outlives the run."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

BUILD = Path(__file__).parents[2] / "build" / "bench"
RESULTS = BUILD / "results.json"
_LIST = Path(__file__).parents[1] / "contestants.txt"


class Package(NamedTuple):
    """A line of contestants.txt."""

    name: str
    installer: str
    requirements: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return BUILD / self.name

    @property
    def versions(self) -> str:
        return " ".join(self.requirements)

    def program(self, name: str) -> Path:
        return self.folder / "bin" / name


class LeftOutError(Exception):
    """A contestant can't take part; the message says why."""


def package(name: str) -> Package:
    """Return the contestant with this name, installed."""
    found = next(each for each in _packages() if each.name == name)
    done = found.folder / "installed.txt"
    if not done.exists() or done.read_text() != found.versions:
        shutil.rmtree(found.folder, ignore_errors=True)
        found.folder.mkdir(parents=True)
        print(f"  (installing {found.versions})", flush=True)
        for command in _commands(found):
            _run(command)
        done.write_text(found.versions)
    return found


def _packages() -> Iterator[Package]:
    for line in _LIST.read_text().splitlines():
        if not line.startswith("#"):
            name, installer, *requirements = line.split()
            yield Package(name, installer, tuple(requirements))


def _commands(found: Package) -> Iterator[list[str | Path]]:
    if found.installer == "npm":
        quiet = ("--silent", "--no-audit", "--no-fund")
        yield ["npm", "install", *quiet, "--prefix", found.folder, *found.requirements]
    else:
        yield [_interpreter(found.installer), "-m", "venv", found.folder]
        yield [found.program("pip"), "install", "--quiet", *found.requirements]


def _interpreter(name: str) -> str | Path:
    if name == "python":
        return sys.executable
    of_pyenv = sorted(Path.home().glob(f".pyenv/versions/*/bin/{name}"))
    for candidate in (*([Path(found)] if (found := shutil.which(name)) else []), *of_pyenv):
        if subprocess.run([candidate, "--version"], capture_output=True, check=False).returncode == 0:
            return candidate
    raise LeftOutError(f"there is no {name}")


def _run(command: list[str | Path]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise LeftOutError(f"{command[0]}: {error.strerror}") from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise LeftOutError(f"{Path(command[0]).name} failed: {said[-1]}")
