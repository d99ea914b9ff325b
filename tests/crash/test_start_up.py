"""Kills during the very first start, which makes a home, a server, a database and a schema."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import open_home
from tests.crash.sampling import FULL
from tests.support.processes import garden, spawn_garden

# The delays cover an undisturbed first start; `GARDEN_TEST_KILLS` sets how many there are.
KILLS = int(os.environ.get("GARDEN_TEST_KILLS", "3" if FULL else "1"))
LONGEST_SECONDS = 1.4


@pytest.mark.parametrize("moment", range(KILLS))
@pytest.mark.parametrize(
    "targets", ["the starter alone", "everything it started", "everything but the starter"]
)
def test_after_a_kill_during_the_first_start_the_next_start_succeeds(
    folder: Path, targets: str, moment: int
) -> None:
    home = folder / "home"
    starter = spawn_garden("init", home=home)
    time.sleep(LONGEST_SECONDS * (moment + 0.5) / KILLS)
    for process in chosen(targets, starter.pid, home):
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)
    starter.communicate(timeout=120)

    done = garden("init", home=home)
    assert done.returncode == 0, done.stderr
    assert not [path.name for path in (home / ".garden").iterdir() if ".new-" in path.name]
    EmbeddedPostgres(open_home(home)).stop()


def chosen(targets: str, starter: int, home: Path) -> list[psutil.Process]:
    """Choose among the starter, its children, and the server, which is detached by design."""
    if targets == "the starter alone":
        return [psutil.Process(starter)]
    family = psutil.Process(starter).children(recursive=True) + [
        process for process in psutil.process_iter() if works_in(process, home)
    ]
    return family if targets == "everything but the starter" else [psutil.Process(starter), *family]


def works_in(process: psutil.Process, home: Path) -> bool:
    with suppress(psutil.Error):
        return Path(process.cwd()).is_relative_to(home)
    return False
