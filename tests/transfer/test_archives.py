"""One garden in one file: exported, checked alone, and imported elsewhere with its history."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from garden.application import Garden
from garden.events.accounts import AccountExistsError, Accounts
from garden.events.verifier import Verifier
from garden.files.declared_paths import DeclaredPaths
from garden.files.failpoints import Failpoint, watch_failpoints
from garden.files.paths import PathNotAllowedError
from garden.history.checkpoints import log_signers
from garden.home.folder import ensure_home
from garden.session import Session
from garden.transfer.archive_check import check_archive
from garden.transfer.archive_file import read_archive
from garden.transfer.archive_imports import GardenExistsError, ImportedArchive, import_archive
from garden.transfer.archive_proofs import MEMBERS
from garden.transfer.archives import MISSING, OUTSIDE, UNKNOWN, UnsettledError, write_archive
from garden.upkeep.reconciliation import reconcile
from garden.upkeep.status import status_of_user
from tests.support.databases import TestServer
from tests.support.gardens import (
    CRITIC,
    NOTES,
    OVERVIEW,
    edit_outside,
    file_of,
    ok,
    plant,
    put,
    refused,
    rows,
)
from tests.support.planted import opened, put_database
from tests.surfaces.cli.conftest import Command

OLD, NEW = "users/ada/parts/critik/notes.md", "users/ada/parts/critic/notes.md"
UPDATE = {"type": "profile_update", "op": "replace_section", "path": CRITIC}
SEALS = {"lineHash", "chainHash", "integritySaltVersion"}


class _GoneError(BaseException):
    """What a failpoint raises to stop a step as a kill would."""


@pytest.fixture
def ada(garden: Garden) -> Session:
    """A garden with every kind of change: edits, a move, a snapshot, an outside edit, notes, a failure."""
    session = garden.session("ada", "companion")
    plant(session, OVERVIEW, NOTES, CRITIC, OLD)
    for text in ("Slept well.", "A secret plan for the summer.", "Called Ben — émigré."):
        ok(session, "fs.append", path=NOTES, text=text)
    worry = {"replace": "- Says yes before looking"}
    ok(session, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1", change=worry, toolCallId="c-1")
    ok(session, "events.log", **UPDATE, rationale="She named it.", toolCallId="c-1")
    ok(session, "md.snapshot_history", path=NOTES)
    for path in ("users/ada/memories/tea.md", "users/ada/memories/tea/green.md"):
        ok(session, "fs.write", path=path, content="She drinks oolong.\n")
    ok(session, "fs.archive", path=path, rationale="She stopped.")
    edit_outside(garden, NOTES, "Slept well.", "Slept badly.")
    ok(session, "fs.append", path=NOTES, text="More.")
    ok(session, "events.log", type="observation", op="seen", rationale="She smiled.")
    mover = garden.session("ada", "operator", role="maintainer")
    with watch_failpoints(_stop_at(Failpoint.BEGUN)), pytest.raises(_GoneError):
        ok(mover, "md.patch_section", path=OVERVIEW, sectionAnchor="facts v1", change={"append": "- Lost."})
    assert list(reconcile(garden.services, ["ada"]))
    ok(mover, "fs.move", path=OLD, newPath=NEW)
    return session


def _stop_at(step: Failpoint) -> Callable[[Failpoint], None]:
    def watch(reached: Failpoint) -> None:
        if reached is step:
            raise _GoneError

    return watch


@pytest.fixture
def erased(ada: Session, garden: Garden) -> Session:
    """The same garden after an erasure."""
    erase = garden.session("ada", "operator", role="maintainer")
    ok(erase, "garden.erase", text="A secret plan for the summer.", reason="She asked.")
    return ada


@pytest.fixture
def archive(garden: Garden, erased: Session, folder: Path) -> Path:  # noqa: ARG001 - fills the garden
    file = folder / "ada.tar.gz"
    write_archive(garden.services, "ada", file)
    return file


@pytest.fixture
def elsewhere(folder: Path, server: TestServer) -> Iterator[Garden]:
    """Another home, with keys of its own."""
    with server.database(server.template()) as url:
        home = ensure_home(folder / "elsewhere")
        put_database(home, url)
        with opened(home) as garden:
            yield garden


def _import(garden: Garden, archive: Path) -> ImportedArchive:
    return import_archive(garden.services, Accounts(garden.pools["writers"], garden.keys), archive)


def _tree(garden: Garden) -> dict[str, bytes]:
    files = (each for each in garden.home.path.glob("[uh]*/**/*.md") if each.is_file())
    return {str(each.relative_to(garden.home.path)): each.read_bytes() for each in files}


def _events(garden: Garden) -> list[dict[str, Any]]:
    """Every event as it is on the wire, without the one seal that is shown."""
    found = rows(garden.session("ada", "reader"), limit=500)
    return [{name: value for name, value in each.items() if name not in SEALS} for each in found]


def _faults(garden: Garden) -> list[str]:
    verdict = Verifier(garden.services.reader, garden.keys).check_user("ada")
    states = [f"{each.path}: {each.state}" for each in status_of_user(garden.services, "ada")]
    return [f"{each.stream}: {each.message}" for each in verdict.faults] + [
        each for each in states if not each.endswith(": in step")
    ]


def test_an_archive_is_right_and_the_same_garden_gives_the_same_bytes(
    garden: Garden, archive: Path, folder: Path
) -> None:
    verdict = check_archive(archive)
    assert (verdict.faults, verdict.user) == ([], "ada")
    assert verdict.events == len(_events(garden))
    assert verdict.documents + verdict.copies == len(_tree(garden))
    write_archive(garden.services, "ada", folder / "again.tar.gz")
    assert (folder / "again.tar.gz").read_bytes() == archive.read_bytes()


def test_an_archive_with_a_kind_that_is_not_declared_here_changes_nothing(
    archive: Path, elsewhere: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere.services.files, "declared", DeclaredPaths(tuple))
    with pytest.raises(PathNotAllowedError, match="no kind of this home declares it"):
        _import(elsewhere, archive)
    assert _tree(elsewhere) == {}
    assert _events(elsewhere) == []


def test_a_key_that_the_reader_trusts_proves_where_the_events_come_from(
    garden: Garden, elsewhere: Garden, archive: Path
) -> None:
    settled = sum(each["status"] in {"committed", "failed"} for each in _events(garden)) + 1
    for home, expected in ((garden, []), (elsewhere, ["none of the keys has signed its checkpoint"])):
        verdict = check_archive(archive, [each.public for each in log_signers(home.services)])
        assert verdict.faults == expected
        assert verdict.proven == (0 if expected else settled)
    assert any("its own key" in line for line in check_archive(archive).proofs)


def test_an_import_elsewhere_has_the_same_files_history_and_events(
    garden: Garden, archive: Path, elsewhere: Garden
) -> None:
    done = _import(elsewhere, archive)
    assert (done.outcome, done.seals) == ("imported", "are made anew")
    assert _tree(elsewhere) == _tree(garden)
    assert _events(elsewhere) == _events(garden)
    assert _faults(elsewhere) == []
    again = elsewhere.session("ada", "companion")
    ok(again, "fs.append", path=NOTES, text="The first words in the new home.")
    assert _faults(elsewhere) == []


def test_seals_are_kept_where_the_keys_are_the_same(
    garden: Garden, archive: Path, elsewhere: Garden, folder: Path
) -> None:
    elsewhere.home.keys_file.write_bytes(garden.home.keys_file.read_bytes())
    assert _import(elsewhere, archive).seals == "are kept"
    assert _faults(elsewhere) == []
    again = elsewhere.session("ada", "companion")
    refused(again, "fs.append", "erased", path=NOTES, text="A secret plan for the summer.")
    write_archive(elsewhere.services, "ada", folder / "back.tar.gz")
    with read_archive(archive) as one, read_archive(folder / "back.tar.gz") as other:
        own = MEMBERS | {"MANIFEST.json"}
        assert one.members.keys() == other.members.keys()
        assert all(one.read(name) == other.read(name) for name in one.members.keys() - own)


def test_what_is_not_as_recorded_is_in_the_archive_and_named(
    garden: Garden, ada: Session, folder: Path, elsewhere: Garden
) -> None:
    lost, drifted, new = OVERVIEW, CRITIC, "users/ada/parts/calm/notes.md"
    expected = file_of(garden, lost).read_bytes()
    file_of(garden, lost).unlink()
    edit_outside(garden, drifted, "Says yes", "Said yes")
    put(garden, new, b"words of a person")
    done = write_archive(garden.services, "ada", folder / "ada.tar.gz")
    assert done.exceptions == {lost: MISSING, drifted: OUTSIDE, new: UNKNOWN}
    verdict = check_archive(folder / "ada.tar.gz")
    assert (verdict.faults, len(verdict.notes)) == ([], 3)
    _import(elsewhere, folder / "ada.tar.gz")
    assert file_of(elsewhere, lost).read_bytes() == expected
    assert _tree(elsewhere).items() >= _tree(garden).items()
    assert _faults(elsewhere) == [f"{new}: damaged", f"{drifted}: drifted"]
    assert rows(ada)


def test_a_change_made_during_an_export_leaves_the_archive_right(
    garden: Garden, ada: Session, folder: Path
) -> None:
    def write(reached: Failpoint) -> None:
        if reached is Failpoint.LEAVES_NUMBERED:
            watch.close()
            ok(ada, "fs.append", path=NOTES, text="Meanwhile.")

    with ExitStack() as watch:
        watch.enter_context(watch_failpoints(write))
        write_archive(garden.services, "ada", folder / "ada.tar.gz")
    assert "Meanwhile" in file_of(garden, NOTES).read_text("utf-8")
    assert check_archive(folder / "ada.tar.gz").faults == []


def test_an_open_change_is_refused_and_leaves_no_file(garden: Garden, ada: Session, folder: Path) -> None:
    with watch_failpoints(_stop_at(Failpoint.BEGUN)), pytest.raises(_GoneError):
        ok(ada, "fs.append", path=NOTES, text="Cut off.")
    with pytest.raises(UnsettledError):
        write_archive(garden.services, "ada", folder / "ada.tar.gz")
    assert list(folder.glob("*ada*")) == []


def test_an_import_is_refused_where_the_user_is_known(
    garden: Garden, archive: Path, elsewhere: Garden
) -> None:
    assert _import(garden, archive).outcome == "unchanged"
    other = elsewhere.session("ada", "companion")
    plant(other, NOTES)
    before = _tree(elsewhere), _events(elsewhere)
    with pytest.raises(AccountExistsError):
        _import(elsewhere, archive)
    assert (_tree(elsewhere), _events(elsewhere)) == before


def test_an_import_is_refused_where_files_are_in_its_way(archive: Path, elsewhere: Garden) -> None:
    put(elsewhere, NOTES, b"words of a person")
    with pytest.raises(GardenExistsError):
        _import(elsewhere, archive)
    assert (len(_tree(elsewhere)), _events(elsewhere)) == (1, [])


@pytest.mark.parametrize("step", [Failpoint.BEGUN, Failpoint.WRITTEN, Failpoint.REPLACED])
def test_an_import_that_is_killed_is_invisible_or_completed_by_the_next(
    garden: Garden, archive: Path, elsewhere: Garden, step: Failpoint
) -> None:
    with watch_failpoints(_stop_at(step)), pytest.raises(_GoneError):
        _import(elsewhere, archive)
    if step is Failpoint.BEGUN:
        assert _events(elsewhere) == []
        assert not any(elsewhere.home.users.iterdir())
    again = _import(elsewhere, archive)
    assert again.outcome == ("imported" if step is Failpoint.BEGUN else "completed")
    assert _tree(elsewhere) == _tree(garden)
    assert _faults(elsewhere) == []


def test_both_commands_move_a_garden(garden: Garden, archive: Path, elsewhere: Garden, folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        here, there = (Command(each.home.path, patch) for each in (garden, elsewhere))
        again = folder / "new" / "again.tar.gz"
        out = here.well("export", "--user", "ada", "--archive", again)
        assert f"garden verify {again}" in out
        assert again.read_bytes() == archive.read_bytes()
        assert "already" in here("export", "--archive", archive).err
        done = there("import", archive, "--json").json
        assert (done["outcome"], done["seals"]) == ("imported", "are made anew")
        assert "access tokens" in done["notes"][-1]
        assert there("status").code == 0
        there.well("keys", "verify")
        there.well("verify")
        there.well("checkpoint")
        here.home = folder / "no-home"
        assert "everything holds" in here.well("verify", archive)
        assert not here.home.exists()
        archive.write_bytes(archive.read_bytes()[:-9])
        assert here("verify", archive, "--json").json["holds"] is False
