"""The pages of the documentation, and the blocks in them that can be carried out."""

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
_ELSEWHERE = {".venv", "build", "dist", "fixtures", "node_modules"}
PAGES = sorted(
    path for path in REPOSITORY.glob("**/*.md") if not _ELSEWHERE & set(path.relative_to(REPOSITORY).parts)
)
_BLOCK = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_SERVED_AT = "127.0.0.1:8620"
# Whatever a page leaves running in the background ends with it.
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
    return str(page.relative_to(REPOSITORY))


def blocks_of(page: Path) -> list[Block]:
    """Give the blocks in their order."""
    found = _BLOCK.finditer(page.read_text("utf-8"))
    return [Block(match[2], re.sub(f"^{match[1]}", "", match[3], flags=re.MULTILINE)) for match in found]


def commands_of(block: Block) -> str:
    """Give what is typed in a console block: after a `$`, and after a `>` where a command goes on."""
    lines = block.text.splitlines()
    return "\n".join(line[2:] for line in lines if line.startswith(("$ ", "> ")))


def pages_with(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks_of(page))]


def script_of(page: Path, folder: Path) -> str:
    """Make one shell script of a page's console and Python blocks, as a reader would go through them.

    Python blocks that follow on each other are typed into one interpreter.
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


def run_script(script: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run it with this checkout's program, and where nobody's own home and port are touched."""
    port = free_port()
    environment = {
        **os.environ,
        "GARDEN_SERVE_PORT": str(port),
        "HOME": str(folder),
        "PATH": f"{programs(folder / '.bin')}:{os.environ['PATH']}",
        "PYTHONPATH": str(REPOSITORY),
    }
    return subprocess.run(
        ["bash", "-c", script.replace(_SERVED_AT, f"127.0.0.1:{port}")],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def programs(folder: Path) -> Path:
    """Put the commands into a folder that an installation would have put on the path."""
    folder.mkdir(exist_ok=True)
    commands = {"garden": f'"{sys.executable}" -m garden', "python": f'"{sys.executable}"'}
    if shutil.which("curl") is None:
        commands["curl"] = f'"{sys.executable}" -m tests.support.curl'
    for name, command in commands.items():
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        program.chmod(0o755)
    return folder
