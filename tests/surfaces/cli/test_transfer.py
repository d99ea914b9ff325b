"""`export`, and `import` of an export."""

import errno
import json
import os
import stat
from pathlib import Path

import pytest

from garden.application import Garden
from garden.home.folder import ensure_home
from garden.session import Session
from tests.support.gardens import NOTES, file_of, ok, plant, put, rows
from tests.support.planted import put_database
from tests.surfaces.cli.conftest import Command, untouched


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.mark.usefixtures("ada")
def test_an_export_holds_every_document_byte_for_byte(run: Command, garden: Garden, folder: Path) -> None:
    with untouched(garden):
        assert run.well("export", folder / "out") == "4 exported, 0 there already, 0 refused.\n"
    assert _tree(folder / "out") == _tree(garden.home.users)
    assert {file.stat().st_mode & 0o077 for file in (folder / "out").rglob("*")} == {0}


def test_history_and_events_are_exported_where_import_ignores_them(
    run: Command, garden: Garden, ada: Session, folder: Path
) -> None:
    run.well("export", folder / "out", "--history", "--events")
    tree = _tree(folder / "out")
    history = {f".history/{name}": text for name, text in _tree(garden.home.history).items()}
    assert history
    assert history.items() <= tree.items()
    lines = tree[".events/ada.jsonl"].decode().splitlines()
    assert [json.loads(line) for line in lines] == list(reversed(rows(ada)))
    assert run("import", folder / "out").out == "0 imported, 4 here already, 0 refused.\n"


@pytest.mark.usefixtures("ada")
def test_every_exported_file_is_durable_before_the_report(
    run: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[tuple[int, int]] = set()
    fsync, target = os.fsync, folder / "new" / "out"

    def noting(handle: int) -> None:
        synced.add(_state(os.fstat(handle)))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noting)
    assert "6 exported" in run.well("export", target, "--history", "--events")
    written = {_state(each.stat()) for each in (target, *target.rglob("*"))}
    assert written | {_state(each.stat()) for each in (folder, folder / "new")} <= synced
    synced.clear()
    assert "6 there already" in run.well("export", target, "--history", "--events")
    assert written <= synced


def _state(status: os.stat_result) -> tuple[int, int]:
    return status.st_ino, status.st_size if stat.S_ISREG(status.st_mode) else 0


@pytest.mark.usefixtures("ada")
def test_a_failing_fsync_is_reported(run: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    (folder / "out").mkdir()
    monkeypatch.setattr(os, "fsync", broken)
    ran = run("export", folder / "out")
    assert ran.code == 1
    assert "0 exported, 0 there already, 4 refused." in ran.out
    assert _tree(folder / "out") == {}


@pytest.mark.usefixtures("ada")
def test_the_same_garden_gives_the_same_bytes(run: Command, folder: Path) -> None:
    for name in ("one", "two"):
        run.well("export", folder / name, "--history", "--events")
    assert _tree(folder / "one") == _tree(folder / "two")


@pytest.mark.usefixtures("ada")
def test_an_import_takes_what_an_export_gave(
    run: Command, folder: Path, empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.well("export", folder / "out", "--history", "--events")
    other = ensure_home(folder / "other")
    put_database(other, empty_database)
    there = Command(other.path, monkeypatch)
    assert there.well("import", folder / "out") == "4 imported, 0 here already, 0 refused.\n"
    assert _tree(other.users) == _tree(run.home / "users")
    there.well("status")


@pytest.mark.usefixtures("ada")
def test_nothing_is_overwritten_and_a_second_export_adds_what_is_missing(run: Command, folder: Path) -> None:
    out = folder / "out"
    run.well("export", out)
    (out / "ada/overview.md").unlink()
    (out / "ada/notes.md").write_text("mine")
    ran = run("export", out)
    assert ran.code == 1
    assert "refused ada/notes.md: A different file already exists at this path." in ran.out
    assert "export to another folder" in ran.out
    assert ran.out.endswith("1 exported, 2 there already, 1 refused.\n")
    assert (out / "ada/notes.md").read_text() == "mine"
    outcomes = {each["file"]: each["outcome"] for each in run("export", out, "--json").json}
    assert outcomes["ada/notes.md"] == "refused"
    assert [name for name in _tree(out) if "/." in name] == []


@pytest.mark.usefixtures("ada")
def test_a_link_in_the_way_is_not_followed(run: Command, folder: Path) -> None:
    out = folder / "out"
    (out / "ada").mkdir(parents=True)
    (out / "ada/notes.md").symlink_to(folder / "elsewhere.md")
    assert run("export", out).code == 1
    assert not (folder / "elsewhere.md").exists()


@pytest.mark.usefixtures("ada")
def test_a_linked_folder_is_not_entered(run: Command, garden: Garden, folder: Path) -> None:
    plant(garden.session("ben"), "users/ben/notes.md")
    out = folder / "out"
    out.mkdir()
    (out / "ada").symlink_to(garden.home.users / "ben")
    (out / ".events").symlink_to(garden.home.history)
    with untouched(garden):
        ran = run("export", out, "--events")
        assert ran.code == 1
        assert "refused ada/overview.md: This path is not allowed: a link" in ran.out
        assert ran.out.endswith("1 exported, 0 there already, 6 refused.\n")


@pytest.mark.usefixtures("ada")
def test_an_export_may_be_of_one_user(run: Command, garden: Garden, folder: Path) -> None:
    plant(garden.session("ben"), "users/ben/notes.md")
    run.well("export", folder / "out", "--user", "ben", "--events")
    assert set(_tree(folder / "out")) == {"ben/notes.md", ".events/ben.jsonl"}


@pytest.mark.usefixtures("ada")
def test_an_unreadable_document_is_reported_and_the_rest_exported(
    run: Command, garden: Garden, folder: Path
) -> None:
    before = file_of(garden, NOTES).read_bytes()
    put(garden, NOTES, b"\xff")
    ran = run("export", folder / "out")
    assert ran.code == 1
    assert "refused ada/notes.md: A document is UTF-8 text" in ran.out
    assert set(_tree(folder / "out")) == {
        "ada/overview.md",
        "ada/parts/critic/notes.md",
        "ada/parts/critic/profile.md",
    }
    put(garden, NOTES, before)


@pytest.mark.usefixtures("ada")
def test_senseless_targets_are_refused(run: Command, garden: Garden, folder: Path) -> None:
    (folder / "file").write_text("")
    with untouched(garden):
        assert "can't go into the garden home" in run.fails("export", garden.home.path / "users")
        assert "can't go into the garden home" in run.fails("export", garden.home.path)
        assert "The target is a file." in run.fails("export", folder / "file")
        message = run.fails("export", folder / "out", "--user", "nobody")
        assert f"There is no garden of 'nobody' in {run.home}.\nhint:  There are gardens of ada." in message
        assert "The folder can't be created: " in run.fails("export", "/proc/nowhere")
        assert "source is not a folder" in run.fails("import", folder / "nowhere")
        run.fails("export", code=2)
    assert not (folder / "out").exists()


def test_a_hint_shared_by_many_files_is_shown_once(run: Command, folder: Path) -> None:
    for name in ("one.md", "two.md"):
        put_file = folder / "docs/start" / name
        put_file.parent.mkdir(parents=True, exist_ok=True)
        put_file.write_text("text")
    ran = run("import", folder / "docs")
    assert ran.out.count("refused start/") == 2
    assert ran.out.count("Allowed are") == 1


@pytest.mark.usefixtures("ada")
def test_annotations_are_exported_with_their_events(run: Command, garden: Garden, folder: Path) -> None:
    session = garden.session("ada", "companion", transaction_id="t1")
    ok(session, "fs.append", path=NOTES, text="More.")
    ok(session, "events.log", type="reflection", filePath=NOTES, rationale="It was worth saying.")
    run.well("export", folder / "out", "--events")
    last = json.loads((folder / "out/.events/ada.jsonl").read_text().splitlines()[-1])
    assert [each["rationale"] for each in last["annotations"]] == ["It was worth saying."]
