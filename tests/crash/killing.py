"""Kill processes that work in a garden at random moments, and check that no promise is broken.

    python -m tests.crash.killing --kills 300 --seed 7

Exits with 1 and names the broken promises where there are any.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home, ensure_home, open_home
from tests.crash.kill_breakages import BREAKAGES
from tests.crash.loaded_garden import RECOVERY_SECONDS, Figures, LoadedGarden, Target, loaded_garden
from tests.crash.targets import KINDS
from tests.support.databases import TestServer
from tests.support.planted import put_database

SEASON_KILLS = 25
# The first season of kills nearly always shows a broken product, and is then the last.
ENOUGH_TO_DETECT = 200
_LONGEST_SECONDS = 0.4
_FIRST_MOMENTS_SECONDS = 0.15
_BROKEN_SECONDS = 2
_TWO_AT_ONCE = 0.2
_IN_THE_FIRST_MOMENTS = 0.2

Report = Callable[[str], None]


def silent(_line: str) -> None:
    """Report nothing."""


def tell(line: str) -> None:
    """Print a line of progress."""
    print(line, flush=True)


def kill_at_random(
    home: Home, *, kills: int, seed: int, breakage: str | None = None, report: Report = silent
) -> Figures:
    """Run processes in a garden, kill them so many times, and return the figures."""
    chosen = random.Random(seed)  # noqa: S311 - it only chooses
    with loaded_garden(home, seed, breakage) as field:
        # A product broken on purpose may never settle its changes.
        field.patience_seconds = _BROKEN_SECONDS if breakage else RECOVERY_SECONDS
        while (done := field.figures.kills.total()) < kills and not field.figures.faults:
            _season(field, chosen, min(kills, done + SEASON_KILLS))
            field.recover_and_judge()
            report(field.figures.progress())
        return field.figures


def _season(field: LoadedGarden, chosen: random.Random, kills_until: int) -> None:
    """Kill one or two at a time, and all of them at the end."""
    field.begin(list(KINDS.values()))
    while field.figures.kills.total() < kills_until - len(field.targets):
        targets = _choose_targets(field, chosen)
        field.watch(_LONGEST_SECONDS * chosen.random())
        field.kill(targets)
        for target in targets:
            field.start(target)
        if chosen.random() < _IN_THE_FIRST_MOMENTS:
            field.watch(_FIRST_MOMENTS_SECONDS * chosen.random())
            field.kill(targets[:1])
            field.start(targets[0])
    field.watch(_LONGEST_SECONDS * chosen.random())
    field.retire()


def _choose_targets(field: LoadedGarden, chosen: random.Random) -> list[Target]:
    count = 2 if chosen.random() < _TWO_AT_ONCE else 1
    weighted = [target for target in field.targets for _ in range(target.kind.often)]
    targets: list[Target] = []
    while len(targets) < count:
        target = chosen.choice(weighted)
        if target not in targets:
            targets.append(target)
    return targets


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="garden-kills-") as folder:
        # As root, the server's own account has to pass through.
        Path(folder).chmod(0o711)
        yield Path(folder)


@contextmanager
def scratch_server(folder: Path) -> Iterator[str]:
    """Yield the address of a migrated database on a temporary server."""
    server = TestServer(folder)
    try:
        with server.database(server.template()) as url:
            yield url
    finally:
        server.drop_all()
        if (folder / "server").exists():
            EmbeddedPostgres(open_home(folder / "server")).stop()


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--kills", type=int, default=300)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--broken", choices=BREAKAGES, help="kill a product that is broken in this way")
    words.add_argument("--prove", action="store_true", help="check that every broken product is detected")
    asked = words.parse_args()
    if asked.prove:
        return prove(asked.seed)
    figures = run(asked.kills, asked.seed, asked.broken)
    tell("\n".join(figures.lines()))
    return 1 if figures.faults else 0


def prove(seed: int) -> int:
    """Kill every broken product until a broken promise shows; return 1 where one stays undetected."""
    undetected = 0
    for breakage in BREAKAGES:
        faults = detections(run(ENOUGH_TO_DETECT, seed, breakage, silent))
        undetected += not faults
        tell(f"{breakage}: {faults[0] if faults else 'NOT DETECTED'}")
    return 1 if undetected else 0


def detections(figures: Figures) -> list[str]:
    """The faults that show a broken promise; a process that crashed by itself shows none."""
    return [fault for fault in figures.faults if "ended by itself" not in fault]


def run(kills: int, seed: int, breakage: str | None = None, report: Report = tell) -> Figures:
    """Kill at random on a home and a server made for it."""
    with scratch_folder() as folder, scratch_server(folder) as url:
        home = ensure_home(folder / "home")
        put_database(home, url)
        figures = kill_at_random(home, kills=kills, seed=seed, breakage=breakage, report=report)
        if figures.faults:
            report((folder / "targets.log").read_text())
        return figures


if __name__ == "__main__":
    sys.exit(main())
