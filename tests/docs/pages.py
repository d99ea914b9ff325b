"""The pages of the documentation, and their blocks that can be run."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tests.support.ports import free_port

REPOSITORY = Path(__file__).parents[2]
_ELSEWHERE = {".pytest_cache", ".venv", "build", "dist", "fixtures", "node_modules"}


def _pages() -> Iterator[Path]:
    """The pages of the repository, without a look into the environments, which have many thousand files."""
    for folder, folders, files in os.walk(REPOSITORY):
        folders[:] = [each for each in folders if each not in _ELSEWHERE]
        yield from (Path(folder, each) for each in files if each.endswith(".md"))


PAGES = sorted(_pages())
_BLOCK = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
REAL_COMMAND = f'"{sys.executable}" -m garden'
_SERVED_AT = "127.0.0.1:8620"
# Background programs of a page end with it.
_PREAMBLE = """\
set -eu
trap 'for job in $(jobs -p); do kill "$job"; done; wait' EXIT
"""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str


def name_of(page: Path) -> str:
    """Path of the page in the repository."""
    return str(page.relative_to(REPOSITORY))


def blocks_of(page: Path) -> list[Block]:
    """Fenced blocks in their order."""
    found = _BLOCK.finditer(page.read_text("utf-8"))
    return [Block(match[2], re.sub(f"^{match[1]}", "", match[3], flags=re.MULTILINE)) for match in found]


def commands_of(block: Block) -> str:
    """The typed part of a console block: after a `$`, and after a `>` where a command continues."""
    lines = block.text.splitlines()
    return "\n".join(line[2:] for line in lines if line.startswith(("$ ", "> ")))


def pages_with(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks_of(page))]


def script_of(page: Path, folder: Path) -> str:
    """Make one shell script of a page's console and Python blocks, in the reader's order.

    Consecutive Python blocks run in one interpreter.
    """
    runnable = [block for block in blocks_of(page) if block.language in {"console", "python"}]
    return _PREAMBLE + "\n".join(_parts(runnable, folder))


def _parts(runnable: list[Block], folder: Path) -> Iterator[str]:
    for number, (language, group) in enumerate(groupby(runnable, key=lambda block: block.language)):
        if language == "console":
            yield from map(commands_of, group)
        else:
            program = folder / f"block-{number}.py"
            program.write_text("\n".join(block.text for block in group), "utf-8")
            yield f'python -W error "{program}"'


def run_script(
    script: str, folder: Path, command: str = REAL_COMMAND, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run it with this checkout's programs, a home folder of its own and a free port."""
    port = free_port()
    return subprocess.run(
        ["bash", "-c", script.replace(_SERVED_AT, f"127.0.0.1:{port}")],
        cwd=folder,
        env={
            **os.environ,
            "GARDEN_SERVE_PORT": str(port),
            "HOME": str(folder),
            "PATH": f"{make_programs(folder / '.bin', command)}:{os.environ['PATH']}",
            "PYTHONPATH": str(REPOSITORY),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def make_programs(folder: Path, command: str = REAL_COMMAND) -> Path:
    """Put the programs of an installation into a folder; `command` runs `garden`."""
    folder.mkdir(exist_ok=True)
    commands = {"garden": command, "python": f'"{sys.executable}"'}
    if shutil.which("curl") is None:
        commands["curl"] = f'"{sys.executable}" -m tests.support.curl'
    for name, line in commands.items():
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {line} "$@"\n')
        program.chmod(0o755)
    return folder
