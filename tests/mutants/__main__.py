"""Put one fault after another into a copy of the product, and check that its tests go red.

    python -m tests.mutants [--only NAME ...] [--jobs N]

A mutant is killed, times out (which counts as killed) or survives. `not-applied` and `not-run` mean that
`mutants.toml` is out of date. The tree itself never changes. The exit code is 0 if every mutant was killed.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

MUTANTS = Path(__file__).resolve().with_name("mutants.toml")
PACKAGES = ("garden", "garden.events", "garden.grammar", "garden.lint", "garden.migrations")
SECONDS_MAX = 240
_FILES = "import sys, importlib; print(*(importlib.import_module(name).__file__ for name in sys.argv[1:]))"
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


class Mutant(NamedTuple):
    """A fault: in the file at `path`, the text `find`, which occurs there once, becomes `replace`."""

    name: str
    why: str
    path: str
    find: str
    replace: str
    tests: list[str]


def read_mutants() -> list[Mutant]:
    """Read the list of mutants."""
    return [Mutant(**each) for each in tomllib.loads(MUTANTS.read_text("utf-8"))["mutant"]]


class Copy:
    """A copy of a tree's tracked files, run by the Python of the tree's virtual environment."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        self.python = str(root / ".venv/bin/python")
        names = subprocess.check_output(["git", "-C", root, "ls-files", "-z"], text=True).split("\0")
        for name in filter(None, names):
            if os.path.lexists(root / name):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, folder / name, follow_symlinks=False)
        # PYTHONPATH comes before the editable install; a compiled file could hide a mutant.
        more = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        self.environment: dict[str, Any] = {"cwd": folder, "env": os.environ | more}
        command = [self.python, "-c", _FILES, *PACKAGES]
        files = subprocess.check_output(command, text=True, **self.environment)
        if not all(Path(file).is_relative_to(folder) for file in files.split()):
            sys.exit(f"The tests would import other files than those of the copy: {files}")

    def try_mutant(self, mutant: Mutant) -> tuple[str, float, str]:
        """Put a mutant in, run its tests, and take it out again."""
        file = self.folder / mutant.path
        text = file.read_text() if file.is_file() else ""
        if (count := text.count(mutant.find)) != 1:
            return "not-applied", 0, f"its text occurs {count} times in {mutant.path}"
        file.write_text(text.replace(mutant.find, mutant.replace))
        try:
            return self.run_tests(mutant.tests)
        finally:
            file.write_text(text)

    def run_tests(self, tests: list[str]) -> tuple[str, float, str]:
        """Run tests up to the first failure."""
        command = [self.python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        started = time.monotonic()
        with tempfile.TemporaryFile("w+") as out:
            streams: dict[str, Any] = {"stdout": out, "stderr": out, "start_new_session": True}
            with subprocess.Popen(command, **streams, **self.environment) as running:
                try:
                    outcome = {0: "survived", 1: "killed"}.get(running.wait(SECONDS_MAX), "not-run")
                except subprocess.TimeoutExpired:
                    os.killpg(running.pid, signal.SIGKILL)
                    outcome = "timeout"
            out.seek(0)
            failed = _FAILED.search(out.read())
        return outcome, time.monotonic() - started, failed[1] if failed else ""


def main() -> int:
    """Try the mutants, and print the outcome of each."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument(
        "--root", type=Path, default=Path.cwd(), help="the tree; by default the current folder"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="try only these mutants")
    parser.add_argument("--jobs", type=int, default=1, help="number of copies tested at once")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the lines to this file too")
    args = parser.parse_args()
    mutants = read_mutants()
    chosen = [each for each in mutants if args.only is None or each.name in args.only]
    if len({each.name for each in chosen}) != len(args.only or mutants):
        parser.error("A name is unknown or occurs twice.")
    counts, lines, began = Counter[str](), list[str](), time.monotonic()

    def work(number: int) -> None:
        copy = Copy(args.root.resolve(), Path(folder, str(number)))
        for mutant in chosen[number :: args.jobs]:
            outcome, seconds, detail = copy.try_mutant(mutant)
            counts[outcome] += 1
            lines.append(f"{mutant.name:<42} {outcome:<11} {seconds:5.1f} s  {detail}".rstrip())
            print(f"{len(lines):3} of {len(chosen)}: {lines[-1]}", flush=True)

    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(args.jobs) as threads:
        Path(folder).chmod(0o755)  # some tests act as another account, which must be able to enter
        list(threads.map(work, range(args.jobs)))
    print(f"{dict(counts)}, in {time.monotonic() - began:.0f} seconds.")
    if args.report:
        args.report.write_text("\n".join([*lines, ""]))
    return int(not counts.keys() <= {"killed", "timeout"})


if __name__ == "__main__":
    sys.exit(main())
