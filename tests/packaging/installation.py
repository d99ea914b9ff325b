"""Install the wheel and the sdist into empty environments beside PyPI's Events, and run the demonstration.

    python -m tests.packaging.installation

Events has a package `events` of its own. Both packages must work in one environment, or ours has taken a
name that is not its own.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.packaging.test_distributions import REPOSITORY, build

_TOP_LEVEL_NAMES = """
from importlib.metadata import files
tops = {path.parts[0] for path in files("memory-garden") if path.suffix == ".py"}
assert tops == {"garden"}, tops
import events
assert events.Events, events.__file__
"""


def main() -> None:
    """Build both distributions, install each, and say how far it is."""
    with tempfile.TemporaryDirectory(prefix="garden-packages-") as scratch:
        folder = Path(scratch)
        pins = folder / "pins.txt"
        pins.write_text(versions_without_hashes())
        for distribution in build(folder):
            environment = folder / distribution.suffix.strip(".")
            print(f"{distribution.name}: install beside Events", flush=True)
            run(sys.executable, "-m", "venv", environment)
            python = environment / "bin" / "python"
            run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                "--constraint", pins, "Events", distribution)  # fmt: skip
            run(python, "-m", "pip", "check")
            run(python, "-c", _TOP_LEVEL_NAMES)
            print(f"{distribution.name}: run the demonstration", flush=True)
            run(environment / "bin" / "garden", "demo")
    print("2 passed, 0 failed")


def versions_without_hashes() -> str:
    """The pinned versions; pip refuses a local file where hashes are given."""
    text = (REPOSITORY / "constraints.txt").read_text("utf-8")
    return "\n".join(re.findall(r"^([\w.-]+==.*?)(?: \\)?$", text, re.MULTILINE))


def run(*command: str | Path) -> None:
    """Run a command away from the checkout, and end with its output where it fails."""
    done = subprocess.run(
        [str(word) for word in command], cwd="/", capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
