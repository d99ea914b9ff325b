"""Real processes for tests."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def garden(
    *words: str | Path, home: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `garden` and wait for it."""
    return subprocess.run(
        command(*words), env=environment(home, env), capture_output=True, text=True, check=False, timeout=120
    )


def spawn_garden(
    *words: str | Path, home: Path, env: dict[str, str] | None = None, stdin: int | None = None
) -> subprocess.Popen[str]:
    """Start `garden` in its own process group."""
    return subprocess.Popen(
        command(*words),
        env=environment(home, env),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def command(*words: str | Path) -> Sequence[str | Path]:
    return [sys.executable, "-m", "garden", *words]


def environment(home: Path, extra: dict[str, str] | None = None) -> dict[str, str]:
    return {**os.environ, "GARDEN_HOME": str(home), **(extra or {})}
