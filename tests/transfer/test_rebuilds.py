"""A garden of any time in a new folder, from the events alone or from history copies alone."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, file_of, ok, plant
from tests.surfaces.cli.conftest import Command, Ran


@pytest.fixture
def ada(garden: Garden) -> Session:
    return garden.session("ada", "companion")


@pytest.fixture
def run(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(garden.home.path, monkeypatch)


def _edit(session: Session, words: str) -> None:
    change = {"replace": f"- {words}"}
    ok(session, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1", change=change, rationale="So.")


def _now(garden: Garden) -> str:
    """The time, at which every file has stood for a second; the clock of a file system ticks slowly."""
    for file in garden.home.users.rglob("*.md"):
        status = file.stat()
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns - 10**9))
    return datetime.now(UTC).isoformat()


def _tree(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): file.read_text("utf-8") for file in folder.rglob("*") if file.is_file()
    }


def _rebuild(run: Command, to: Path, at: str | None, source: str) -> tuple[Ran, dict[str, str]]:
    ran = run("rebuild", "--to", to, "--from", source, *(["--at", at] if at else []))
    return ran, _tree(to) if to.exists() else {}


def test_both_sources_give_the_garden_of_any_time(
    garden: Garden, ada: Session, run: Command, folder: Path
) -> None:
    plant(ada, CRITIC, OVERVIEW)
    stood: dict[str | None, dict[str, str]] = {"2020-01-01": {}}
    for words in ("Says yes", "Counts the hours", "Sleeps"):
        _edit(ada, words)
        stood[_now(garden)] = _tree(garden.home.users)
    _edit(ada, "Rests")
    stood[None] = _tree(garden.home.users)
    for number, (at, expected) in enumerate(stood.items()):
        for source in ("events", "history"):
            ran, tree = _rebuild(run, folder / f"{source}-{number}", at, source)
            assert tree == expected, (at, source, ran)
            assert ran.code == (0 if expected or source == "events" else 1), ran


def test_one_source_is_enough(
    garden: Garden, ada: Session, run: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada, CRITIC)
    _edit(ada, "First")
    at, expected = _now(garden), _tree(garden.home.users)
    _edit(ada, "Second")
    with monkeypatch.context() as patch:
        patch.setenv("GARDEN_DATABASE_URL", "postgresql://127.0.0.1:1/none")
        assert _rebuild(run, folder / "of-history", at, "history")[1] == expected
    (garden.home.users / "ada").rename(folder / "users")
    (garden.home.history / "ada").rename(folder / "history")
    assert _rebuild(run, folder / "of-events", at, "events")[1] == expected


def test_only_a_new_or_empty_folder_is_filled(
    garden: Garden, ada: Session, run: Command, folder: Path
) -> None:
    plant(ada, CRITIC, NOTES)
    out = folder / "out"
    out.mkdir()
    assert run.well("rebuild", "--to", out) == "2 rebuilt, 0 uncertain, 0 left out, 0 refused.\n"
    assert _tree(out) == _tree(garden.home.users)
    assert "not empty" in run("rebuild", "--to", out).err
    assert "garden home itself" in run("rebuild", "--to", garden.home.path / "out").err


def test_a_host_whose_clock_is_days_ahead_hides_no_version(
    garden: Garden, ada: Session, run: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada, CRITIC)
    monkeypatch.setattr(garden.services.store, "_now", lambda: datetime.now(UTC) + timedelta(days=3))
    _edit(ada, "Newest")
    assert _rebuild(run, folder / "out", None, "events")[1] == _tree(garden.home.users)


def test_what_left_no_copy_is_named_with_the_version_taken(
    garden: Garden, ada: Session, run: Command, folder: Path
) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="First.")
    at = _now(garden)
    ok(ada, "fs.append", path=NOTES, text="Second.")
    ran, tree = _rebuild(run, folder / "out", at, "history")
    assert ran.code == 1
    assert "ada/notes.md: uncertain. The version of then left no copy; this one was written at 20" in ran.out
    assert tree["ada/notes.md"] == file_of(garden, NOTES).read_text("utf-8")
    ran, tree = _rebuild(run, folder / "exact", at, "events")
    assert (ran.code, "Second." in tree["ada/notes.md"]) == (0, False)


def test_moved_and_erased_documents_are_where_they_were(
    garden: Garden, ada: Session, run: Command, folder: Path
) -> None:
    old, new = "users/ada/parts/critik/notes.md", "users/ada/parts/critic/notes.md"
    plant(ada, old, NOTES)
    ok(ada, "fs.append", path=NOTES, text="A secret plan for the summer.")
    at = _now(garden)
    keeper = garden.session("ada", "operator", role="maintainer")
    ok(keeper, "fs.move", path=old, newPath=new)
    ok(keeper, "garden.erase", text="A secret plan for the summer.", reason="She asked.")
    tree = _rebuild(run, folder / "then", at, "events")[1]
    assert set(tree) == {"ada/notes.md", "ada/parts/critik/notes.md"}
    assert "secret" not in tree["ada/notes.md"]
    for source in ("events", "history"):
        assert _rebuild(run, folder / source, None, source)[1] == _tree(garden.home.users)
