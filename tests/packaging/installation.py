"""Install the wheel and the sdist into empty environments beside PyPI's Events, and run the demonstration.

    python -m tests.packaging.installation

Takes what `tests.packaging.clients` left in dist/. Events has a package `events` of its own.
Both packages must work in one environment, or ours has taken a name that is not its own.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.packaging.clients import DIST, PROGRAMS
from tests.packaging.test_distributions import REPOSITORY

_TOP_LEVEL_NAMES = """
from importlib.metadata import files
tops = {path.parts[0] for path in files("memory-garden") if path.suffix == ".py"}
assert tops == {"garden"}, tops
import events
assert events.Events, events.__file__
"""
_HASHES = """
from importlib.metadata import files
print(sorted((str(path), path.hash.value) for path in files("memory-garden") if path.parts[0] == "garden"))
"""


def main() -> None:
    """Install each distribution beside Events, compare them, and run the demonstration."""
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    with tempfile.TemporaryDirectory(prefix="garden-packages-") as scratch:
        from_wheel, from_sdist = (install(each, Path(scratch)) for each in (wheel, sdist))
        # With the same files, the demonstration of one is that of the other.
        assert run(from_wheel / "python", "-c", _HASHES) == run(from_sdist / "python", "-c", _HASHES)
        print(f"{wheel.name}: run the demonstration", flush=True)
        run(from_wheel / "garden", "demo")
    print("2 passed, 0 failed")


def install(distribution: Path, folder: Path) -> Path:
    """Make an environment with Events and a distribution; return the folder of its programs."""
    print(f"{distribution.name}: install beside Events", flush=True)
    uv, environment, pins = PROGRAMS / "uv", folder / distribution.suffix.strip("."), folder / "pins.txt"
    pins.write_text(versions_without_hashes())
    run(uv, "venv", "--quiet", "--python", sys.executable, environment)
    python = environment / "bin" / "python"
    run(uv, "pip", "install", "--quiet", "--python", python, "--constraint", pins, "Events", distribution)
    run(uv, "pip", "check", "--python", python)
    run(python, "-c", _TOP_LEVEL_NAMES)
    return python.parent


def versions_without_hashes() -> str:
    """The pinned versions; a local file can't be installed where hashes are given."""
    text = (REPOSITORY / "constraints.txt").read_text("utf-8")
    return "\n".join(re.findall(r"^([\w.-]+==.*?)(?: \\)?$", text, re.MULTILINE))


def run(*command: str | Path) -> str:
    """Run a command away from the checkout; return its output, or end with it where it fails."""
    done = subprocess.run(
        [str(word) for word in command], cwd="/", capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
