"""Kills at random of everything that works in a garden, and the judgement on what is left.

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
_LONGEST_SECONDS = 0.4
_FIRST_MOMENTS_SECONDS = 0.15
_BROKEN_SECONDS = 2
_TWO_AT_ONCE = 0.2
_IN_THE_FIRST_MOMENTS = 0.2

Report = Callable[[str], None]


def silent(_line: str) -> None:
    """Tell nobody how it goes."""


def tell(line: str) -> None:
    """Tell how it goes."""
    print(line, flush=True)


def kill_at_random(
    home: Home, *, kills: int, seed: int, breakage: str | None = None, report: Report = silent
) -> Figures:
    """Have a garden worked in and its workers killed so many times; gives what came of it."""
    chosen = random.Random(seed)  # noqa: S311 - it only chooses
    with loaded_garden(home, seed, breakage) as field:
        # What was broken on purpose may never come in order.
        field.patience_seconds = _BROKEN_SECONDS if breakage else RECOVERY_SECONDS
        while (done := field.figures.kills.total()) < kills and not field.figures.faults:
            _season(field, chosen, min(kills, done + SEASON_KILLS))
            field.recover_and_judge()
            report(field.figures.progress())
        return field.figures


def _season(field: LoadedGarden, chosen: random.Random, kills_until: int) -> None:
    """Kill now one and now another, and everybody at the end."""
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
    """Give a folder for whoever runs this by hand."""
    with tempfile.TemporaryDirectory(prefix="garden-kills-") as folder:
        # As root, the server's own account has to pass through.
        Path(folder).chmod(0o711)
        yield Path(folder)


@contextmanager
def scratch_server(folder: Path) -> Iterator[str]:
    """Give the address of a migrated database, on a server that is there for that alone."""
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
    asked = words.parse_args()
    with scratch_folder() as folder, scratch_server(folder) as url:
        home = ensure_home(folder / "home")
        put_database(home, url)
        figures = kill_at_random(home, kills=asked.kills, seed=asked.seed, breakage=asked.broken, report=tell)
        if figures.faults:
            tell((folder / "targets.log").read_text())
    tell("\n".join(figures.lines()))
    return 1 if figures.faults else 0


if __name__ == "__main__":
    sys.exit(main())
