"""A home whose embedded database exists already: made once per run, and copied for each test."""

import os
import subprocess
from pathlib import Path

from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home, open_home
from garden.home.settings import load_settings
from garden.home.setup import prepare_home
from garden.home.state_files import exclusive_lock


def copy_prepared_home(path: Path) -> Home:
    """Copy the run's prepared home to this path; its server is stopped, its schema complete."""
    root = Path(os.environ["GARDEN_TEST_ROOT"])
    template, ready = root / "prepared" / "home", root / "prepared-home-is-ready"
    with exclusive_lock(root / "prepared-home.lock", timeout_seconds=60):
        if not ready.exists():
            template.parent.mkdir(exist_ok=True)
            template.parent.chmod(0o711)
            home = prepare_home(load_settings(template).settings).home
            EmbeddedPostgres(home).stop()
            ready.touch()
    subprocess.run(["cp", "-a", template, path], check=True)
    return open_home(path)
