"""A throw-away garden home."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home, ensure_home


@contextmanager
def throw_away_home() -> Iterator[Home]:
    """Make a fresh home; afterwards stop its server and remove its folder."""
    with tempfile.TemporaryDirectory(prefix="garden-demo-") as folder:
        home = ensure_home(Path(folder) / "home")
        try:
            yield home
        finally:
            EmbeddedPostgres(home).stop()
