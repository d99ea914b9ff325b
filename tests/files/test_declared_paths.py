"""Declared paths against a matcher of another make: what fits no pattern is made and listed nowhere."""

from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from garden.files.declared_paths import DeclaredPaths
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath, PathNotAllowedError
from garden.grammar.kinds.catalogue import load_kinds
from garden.home.folder import Home

JOURNAL = 'kind = "journal"\nsummary = "s"\ntitle = "t"\nschema = 1\nidentity = []\n'
KINDS = load_kinds(
    [("journal.toml", JOURNAL + 'paths = ["journal/{date}.md", "journal/trips/{a}/{b}.md"]\n')]
)
PATTERNS = [pattern.removesuffix(".md").split("/") for kind in KINDS.values() for pattern in kind.paths]
DECLARED = DeclaredPaths(KINDS.values)
EVENT = UUID("0193a1b2-0000-7000-8000-000000000000")
NAMES = st.sampled_from(["memories", "journal", "trips", "a", "notes", "2026-11-18", "2026-13-18", "parts"])


def fits(name: str, pattern: str) -> bool:
    if pattern == "{date}":
        year, _, rest = name.partition("-")
        month, _, day = rest.partition("-")
        return year.isdecimal() and month.isdecimal() and int(month) <= 12 and int(day) <= 31
    return pattern.startswith("{") or name == pattern


def is_declared(names: list[str], *, is_folder: bool) -> bool:
    lengths = (len(names) < len(each) if is_folder else len(names) == len(each) for each in PATTERNS)
    return any(
        right and all(map(fits, names, pattern)) for right, pattern in zip(lengths, PATTERNS, strict=True)
    )


@given(st.lists(NAMES, min_size=1, max_size=4), st.booleans(), st.sampled_from(["users", "history"]))
@example(["journal", "trips"], False, "users")
def test_a_path_is_allowed_exactly_if_a_pattern_fits(names: list[str], is_folder: bool, root: str) -> None:
    try:
        path = GardenPath(f"{root}/ada/{'/'.join(names)}{'' if is_folder else '.md'}")
    except PathNotAllowedError:
        assert (
            len(names) == 1 or names[0] in ("parts", "notes", "2026-11-18", "2026-13-18") or len(names) == 4
        )
        return
    if path.free is None:
        assert names[0] in ("parts", "notes")
    else:
        assert DECLARED.allow(path) is is_declared(names, is_folder=is_folder)


@pytest.fixture
def files(home: Home) -> GardenFiles:
    return GardenFiles(home.path, declared=DECLARED)


def content_of(home: Path) -> set[str]:
    return {str(each.relative_to(home)) for root in ("users", "history") for each in (home / root).rglob("*")}


def test_the_files_room_makes_moves_and_lists_nothing_undeclared(home: Home, files: GardenFiles) -> None:
    there, other = GardenPath("users/ada/memories/tea.md"), GardenPath("users/ada/diary/tea.md")
    with files:
        kept = files.replace(there, b"green\n", expected=None)
        before = content_of(home.path)
        for change in (
            lambda: files.replace(other, b"black\n", expected=None),
            lambda: files.replace(GardenPath("users/ada/journal/today.md"), b"x", expected=None),
            lambda: files.move(there, other, expected=kept),
            lambda: files.move(there, GardenPath("users/ada/journal/today.md"), expected=kept),
            lambda: files.ensure_folders(other.folder),
            lambda: files.history.write(other.copy_of(files.read(there).touched_at, EVENT), b"x"),
        ):
            with pytest.raises(PathNotAllowedError):
                change()
        assert content_of(home.path) == before
        (home.path / other.folder.text).mkdir()
        (home.path / other.text).write_text("a person's own\n")
        assert list(files.documents(GardenPath("users/ada"))) == [there]
        assert list(files.others(GardenPath("users/ada"))) == [other.folder.text]
