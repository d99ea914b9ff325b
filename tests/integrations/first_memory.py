"""Measure the way from an empty environment to a first recalled memory, for each framework of the page.

    .venv/integrations/bin/python -m tests.integrations.first_memory [SECTION ...]

Each section's first program runs from the built wheel in an environment of its own, on a home that it makes.
The packages come from the cache: run it twice on a quiet machine, and put the sums of the second run into the
page's table.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.docs.pages import REPOSITORY
from tests.integrations.scripted_models import scripted, settings_for
from tests.integrations.test_documents import PAGE, SCRIPTS, SECTIONS

# This framework brings no client of a model service by itself.
CLIENTS = {"pydantic-ai": ["pydantic-ai-slim[openai]"]}
# One of these built the environment.
UV = shutil.which("uv") or next(REPOSITORY.glob(".venv/*/bin/uv"))


def main(sections: list[str]) -> None:
    extras = dict(
        re.findall(r"^\| \[(.*?)\]\(#.*?\) \| `?([\w-]+)`? \|", PAGE.read_text("utf-8"), re.MULTILINE)
    )
    with tempfile.TemporaryDirectory() as folder:
        builder = REPOSITORY / ".venv/bin/python"
        run(builder, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=REPOSITORY)
        (wheel,) = Path(folder).glob("*.whl")
        for section, extra in extras.items():
            if not sections or section in sections:
                installed, answered = measure(Path(folder), wheel, section, extra)
                print(f"{section}: installed in {installed:.1f} s, answered in {answered:.1f} s", flush=True)


def run(*command: str | Path, **options: Any) -> None:
    subprocess.run(command, check=True, **options)


def measure(folder: Path, wheel: Path, section: str, extra: str) -> tuple[float, float]:
    """The seconds of the installation, and those of the program's first run."""
    environment = folder / extra
    python = environment / "bin/python"
    begun = time.monotonic()
    run(UV, "venv", "--quiet", "--python", sys.executable, environment)
    pins, wanted = (
        REPOSITORY / "tests/integrations/constraints.txt",
        [
            f"memory-garden{'' if extra == 'none' else f'[{extra}]'} @ {wheel.as_uri()}",
            *CLIENTS.get(extra, ()),
        ],
    )
    run(UV, "pip", "install", "--quiet", "--python", python, "--constraint", pins, *wanted)
    installed = time.monotonic()
    with scripted(SCRIPTS.get(section, ())) as model:
        home = {"GARDEN_HOME": str(folder / f"home-{extra}"), **settings_for(model.url)}
        run(python, "-c", SECTIONS[section][0].text, cwd=folder, env={**os.environ, **home})
    answered = time.monotonic()
    stop = {"env": {**os.environ, **home}, "stdout": subprocess.DEVNULL}
    run(environment / "bin/garden", "database", "stop", **stop)
    return installed - begun, answered - installed


if __name__ == "__main__":
    main(sys.argv[1:])
