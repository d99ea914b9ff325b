"""Cleans up after a test run, even after pytest was killed.

Waits until its standard input closes, then stops every server below the run's folder and removes the folder.
"""

import shutil
import sys
from contextlib import suppress
from pathlib import Path

from garden.grammar.errors import GardenError
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import open_home


def main(root: Path) -> None:
    sys.stdin.read()
    for identity in root.glob("**/.garden/home.json"):
        with suppress(GardenError):
            EmbeddedPostgres(open_home(identity.parent.parent)).stop()
    shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
