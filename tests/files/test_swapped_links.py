"""Folders swapped for links at any moment: still nothing outside is read, made or changed."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from garden.files.garden_files import FileText, GardenFiles
from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.home.folder import Home, ensure_home
from tests.files.test_file_attacks import CANARY, snapshot
from tests.files.test_garden_files import COPY, NOON, NOTES, PROFILE, digest, place
from tests.support.swapper import until_begun
from tests.support.waiting import DEADLINE_SECONDS

# `GARDEN_TEST_SWAPS` asks for more operations.
OPERATIONS = int(os.environ.get("GARDEN_TEST_SWAPS", "8000"))
SWAPPED = [
    *("users", "users/ada", "users/ada/parts", "users/ada/parts/critic", str(PROFILE), str(NOTES)),
    *("history", "history/ada", "history/ada/parts/critic/profile", str(COPY)),
]
GARDEN = GardenPath("users/ada")
STRANGER = "stranger"
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def fast_home() -> Iterator[Home]:
    """A home in memory where there is such a file system, so that there is time for many writes."""
    memory = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(prefix="garden-swaps-", dir=memory if os.access(memory, os.W_OK) else None))
    yield ensure_home(root / "home")
    shutil.rmtree(root)


def fill(home: Home) -> Path:
    """Put the same tree into the home and outside, there with canaries and a name more in each folder."""
    outside = home.path.parent / "outside"
    for path in (PROFILE, NOTES, COPY):
        place(home, path)
        target = outside / str(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(CANARY)
    for folder in [path for path in outside.rglob("*") if path.is_dir()]:
        (folder / STRANGER).mkdir()
    return outside


class Attacked:
    """Random operations under attack, each checked for what it may return."""

    def __init__(self, files: GardenFiles) -> None:
        self.files = files
        self.chance = random.Random(5)  # noqa: S311
        self.outcomes: Counter[str] = Counter()

    def run(self, operations: int) -> None:
        kinds = [self.read] * 20 + [self.read_copy] * 6 + [self.list, self.look, self.make] * 3
        kinds += [self.replace, self.replace_blindly, self.create, self.copy, self.clean]
        for number in range(operations):
            operation = self.chance.choice(kinds)
            try:
                operation(number)
                self.outcomes[operation.__name__] += 1
            except GardenError as error:
                self.expect_silence(error)
                self.outcomes[error.code] += 1

    @property
    def met_both_sides(self) -> bool:
        """Whether the operations met links, and succeeded between them."""
        return min(self.outcomes["path_not_allowed"], self.outcomes["read"]) > OPERATIONS / 100

    def read(self, number: int) -> None:
        self.expect_no_canary(self.files.read(NOTES if number % 4 == 0 else PROFILE))

    def read_copy(self, _: int) -> None:
        self.expect_no_canary(self.files.read(COPY))

    def expect_silence(self, error: GardenError) -> None:
        assert "CANARY" not in error.message
        assert digest(CANARY) not in str(error.details)

    def expect_no_canary(self, found: FileText) -> None:
        assert found.text == "old\n"

    def list(self, _: int) -> None:
        folder = self.chance.choice([GARDEN, PROFILE.folder.folder, COPY.folder, GardenPath("history/ada")])
        for path in (*self.files.list_folder(folder), *self.files.users(), *self.files.documents(GARDEN)):
            assert STRANGER not in path.text.split("/")

    def look(self, _: int) -> None:
        assert not self.files.exists(GardenPath(f"users/ada/parts/{STRANGER}"))

    def make(self, number: int) -> None:
        self.files.ensure_folders(GardenPath(f"users/ada/parts/made-{number % 7}"))

    def replace(self, number: int) -> None:
        copy = PROFILE.copy_of(NOON, UUID(int=number + 100))
        self.files.replace(PROFILE, b"old\n", expected=digest(b"old\n"), keep_previous=copy)

    def replace_blindly(self, _: int) -> None:
        self.files.replace(PROFILE, b"old\n", expected=digest(CANARY))

    def create(self, number: int) -> None:
        path = GardenPath(f"users/ada/parts/critic/{'notes' if number % 2 else 'profile'}.md")
        self.files.replace(path, b"old\n", expected=None)

    def copy(self, number: int) -> None:
        self.files.history.write(PROFILE.copy_of(NOON, UUID(int=number % 50 + 10**6)), b"old\n")

    def clean(self, _: int) -> None:
        self.files.strays.remove(PROFILE)


@pytest.mark.parametrize("step_by_step", [False, True], ids=["at once", "step by step"])
def test_swapping_folders_for_links_at_any_moment_leads_nowhere(fast_home: Home, step_by_step: bool) -> None:
    outside = fill(fast_home)
    before = snapshot(outside)
    command = [sys.executable, "-m", "tests.support.swapper", str(fast_home.path), str(outside), *SWAPPED]
    with (
        GardenFiles(fast_home.path, step_by_step=step_by_step) as files,
        subprocess.Popen(
            command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as swapper,
    ):
        until_begun(swapper.stdout)
        attacked = Attacked(files)
        attacked.run(OPERATIONS)
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not attacked.met_both_sides and time.monotonic() < deadline:
            attacked.run(OPERATIONS // 100)
        swapper.communicate()
    assert snapshot(outside) == before
    assert attacked.met_both_sides, attacked.outcomes
