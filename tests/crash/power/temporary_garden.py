"""A temporary garden on its own server."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from garden.application import Garden
from garden.home.folder import ensure_home
from tests.crash.power.processes import REPOSITORY
from tests.support.databases import TestServer
from tests.support.folders import fast_place
from tests.support.planted import opened, put_database


@contextmanager
def temporary_garden() -> Iterator[Garden]:
    root = Path(tempfile.mkdtemp(prefix="garden-power-", dir=fast_place()))
    # As root, the server's own account has to pass through.
    root.chmod(0o711)
    guardian = subprocess.Popen(
        [sys.executable, "-m", "tests.support.guardian", root],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ},
    )
    try:
        server = TestServer(root)
        with server.database(server.template()) as url:
            home = ensure_home(root / "home")
            put_database(home, url)
            with opened(home) as garden:
                yield garden
    finally:
        guardian.communicate()
