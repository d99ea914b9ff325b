"""Swaps folders and files below a home for links that lead outside and back again, in a tight loop.

    python -m tests.support.swapper HOME OUTSIDE PATH...

Each path is there below both. Says so when it has begun. Ends when its standard input does, with everything
back in its place, and prints how often it swapped.
"""

import itertools
import os
import select
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

BEGUN = "swapping"


def until_begun(said: IO[str] | None) -> None:
    """Wait for the first swap."""
    assert said is not None
    assert said.readline().strip() == BEGUN


def main(home: Path, outside: Path, paths: list[str]) -> None:
    junk = home.parent / "junk"
    junk.mkdir()
    swaps = 0
    for number, path in enumerate(itertools.cycle(paths)):
        real, aside = home / path, home / f"{path}-aside"
        real.rename(aside)
        with suppress(FileExistsError):
            real.symlink_to(outside / path)
            swaps += 1
            if swaps == 1:
                print(BEGUN, flush=True)
        put_back(real, aside, junk / str(number))
        if number % 16 == 0 and select.select([sys.stdin], [], [], 0)[0]:
            break
    print(swaps)


def put_back(real: Path, aside: Path, junk: Path) -> None:
    """Clear the place, where the attacked process may have made files, and fill it."""
    for attempt in itertools.count():
        try:
            with suppress(FileNotFoundError):
                real.unlink() if not is_folder(real) else real.rename(f"{junk}-{attempt}")
            aside.rename(real)
        except OSError:
            continue
        return


def is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


if __name__ == "__main__":
    os.umask(0)
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
