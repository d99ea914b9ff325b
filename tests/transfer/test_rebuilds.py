"""A garden of any time in a new folder, from the events alone or from history copies alone."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.databases import TestServer
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, file_of, ok, plant, rows
from tests.surfaces.cli.conftest import Command, Ran


@pytest.fixture
def ada(garden: Garden) -> Session:
    return garden.session("ada", "companion")


@pytest.fixture
def run(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(garden.home.path, monkeypatch)


def _edit(session: Session, words: str) -> str:
    """Replace a section of a profile; return the time, at which that version stands."""
    change = {"replace": f"- {words}"}
    ok(session, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1", change=change, rationale="So.")
    return datetime.now(UTC).isoformat()


def _tree(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): file.read_text("utf-8")
        for file in folder.rglob("*")
        if file.is_file()
    }


def _rebuild(run: Command, to: Path, at: str | None, source: str) -> tuple[Ran, dict[str, str]]:
    ran = run("rebuild", "--to", to, "--from", source, *(["--at", at] if at else []))
    return ran, _tree(to) if to.exists() else {}


def test_both_sources_give_the_garden_of_any_time(garden: Garden, ada: Session, run: Command, folder: Path) -> None:
    before = datetime.now(UTC).isoformat()
    plant(ada, CRITIC, OVERVIEW)
    stood = {before: {}, None: {}}
    for words in ("Says yes", "Counts the hours", "Sleeps"):
        stood[_edit(ada, words)] = _tree(garden.home.users)
    stood[None] = _tree(garden.home.users)
    for number, (at, expected) in enumerate(stood.items()):
        for source in ("events", "history"):
            ran, tree = _rebuild(run, folder / f"{source}-{number}", at, source)
            assert tree == expected, (at, source, ran)
            assert ran.code == (1 if at == before and source == "history" else 0), ran


def test_events_need_no_files_and_history_needs_no_database(
    garden: Garden, ada: Session, run: Command, folder: Path, server: TestServer
) -> None:
    plant(ada, CRITIC, NOTES)
    expected, at = _tree(garden.home.users), _edit(ada, "Later")
    for file in [*garden.home.users.rglob("*.md"), *garden.home.history.rglob("*.md")]:
        file.rename(folder / file.name)
    ran, tree = _rebuild(run, folder / "out", rows(ada)[1]["createdAt"], "events")
    assert (ran.code, tree) == (0, expected)
    run.home = _home_without_database(garden, folder)
    assert at


def test_what_left_no_copy_is_named_with_the_version_taken(
    garden: Garden, ada: Session, run: Command, folder: Path
) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="First.")
    at = datetime.now(UTC).isoformat()
    ok(ada, "fs.append", path=NOTES, text="Second.")
    ran, tree = _rebuild(run, folder / "out", at, "history")
    assert ran.code == 1
    assert "ada/notes.md: uncertain. This version was written at 20" in ran.out
    assert tree["ada/notes.md"] == file_of(garden, NOTES).read_text("utf-8")
    ran, tree = _rebuild(run, folder / "exact", at, "events")
    assert (ran.code, "Second." in tree["ada/notes.md"]) == (0, False)
