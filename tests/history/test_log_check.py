"""The check of the log finds every change of tables and files, and nothing on clean homes."""

import re
import shutil
from pathlib import Path

import pytest

from garden.application import Garden
from garden.history.checkpoints import log_folder
from garden.history.tiles import CHECKPOINT
from tests.events.test_verifier import tamper
from tests.history.conftest import faults, logged
from tests.support.accounts import BEN, Account
from tests.support.gardens import CRITIC, NOTES, ok, plant, result

JOURNALED = "where user_id = 'ada' and stream = '' and sequence = 1"
FIRST = "user_id = 'ada' and position = 1"
HARMS = {
    f"update garden.events set actor = 'x' {JOURNALED}": "is not as it was logged",
    f"update garden.events set created_at = now() {JOURNALED}": "is not as it was logged",
    "update garden.events set committed_at = now() where document_version = 2"
    " and status = 'committed'": "is not as it was logged",
    f"update garden.events set commitments = overlay(commitments placing sha256('') from 1) {JOURNALED}":
        "is not as it was logged",
    f"update garden.events set chain_hash = sha256('') {JOURNALED}": "is not as it was logged",
    "update garden.events set status = 'committed', failed_at = null, error = null, committed_at = now()"
    " where status = 'failed'": "has lost the event",
    f"delete from garden.events {JOURNALED}": "has lost the event",
    f"update garden.events set event_id = gen_random_uuid() {JOURNALED}": "has lost the event",
    "update garden.event_annotations set actor = 'x'": "The annotation",
    "delete from garden.event_annotations": "has lost the annotation",
    f"delete from garden.feed where {FIRST}": "has lost the event",
    f"delete from garden.log_leaves where {FIRST}": "has lost the event",
    f"update garden.log_leaves set leaf = 5 where {FIRST}": "has lost the event",
    "update garden.log_leaves set leaf = 7 - leaf": "out of its place",
    "insert into garden.log_leaves values ('cid', 1, 3)": "out of its place",
    "update garden.log_leaves set user_id = 'cid' where user_id = 'ben'": "has lost the event",
    "delete from garden.log_checkpoints": "The checkpoint in the database is gone",
    "update garden.log_checkpoints set size = 6": "was changed",
    r"update garden.log_checkpoints set note = replace(note, e'\n7\n', e'\n6\n')": "does not hold",
    "truncate garden.log_checkpoints, garden.log_leaves": "has lost the event",
}  # fmt: skip


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize("harm", HARMS)
def test_every_change_of_a_table_is_found(garden: Garden, database: str, harm: str) -> None:
    logged(garden)
    assert faults(garden) == []
    tamper(database, harm)
    found = "\n".join(faults(garden))
    assert HARMS[harm] in found
    # Everyone who verifies sees the faults of the home's log.
    assert not {"ada", "ben", "cid"}.intersection(re.findall(r"\w+", found))


def test_every_change_of_a_file_is_found(garden: Garden, account: Account) -> None:
    for number in range(257):
        account.edit(f"{number}\n", caller=BEN, path="users/ben/notes.md")
    logged(garden)
    for name in ("tile/0/000", "tile/entries/000", "tile/0/001.p/8", "tile/1/000.p/1", CHECKPOINT):
        file = log_folder(garden.services) / name
        content = file.read_bytes()
        for place in (0, len(content) // 2, len(content) - 2):
            file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            assert faults(garden) != [], name
            file.write_bytes(content[:place])
            assert faults(garden) != [], name
        file.unlink()
        assert faults(garden) != [], name
        file.write_bytes(content)
    assert faults(garden) == []


@pytest.mark.usefixtures("account")
def test_leaves_without_any_checkpoint_are_found(garden: Garden, database: str) -> None:
    logged(garden)
    shutil.rmtree(log_folder(garden.services))
    tamper(database, "delete from garden.log_checkpoints")
    assert faults(garden) == [
        f"The checkpoint in {place} is gone" for place in ("the database", ".garden/tlog")
    ]


def test_entries_swapped_in_a_file_are_named(garden: Garden, account: Account) -> None:
    logged(garden)
    file = log_folder(garden.services) / "tile/entries/000.p/7"
    content = file.read_bytes()
    file.write_bytes(content.replace(b"annotation/v1", b"annotated/v1 "))
    assert faults(garden)[0].startswith("Entry 2 in the log's files was changed")
    assert account.faults() == []


def test_a_missing_event_is_named_by_its_id(garden: Garden, account: Account, database: str) -> None:
    lost = account.edit("lost\n", path="users/ada/lost.md")
    logged(garden)
    for table in ("events", "feed"):
        tamper(database, f"delete from garden.{table} where event_id = '{lost.event_id}'")
    tamper(
        database,
        "delete from garden.documents where path = 'users/ada/lost.md'",
        "delete from garden.log_leaves where user_id = 'ada' and leaf = 5",
    )
    assert account.faults() == []
    assert f"The database has lost the event {lost.event_id}" in faults(garden)


def test_erasures_leave_the_log_whole(garden: Garden) -> None:
    session = garden.session("ada", "operator", role="maintainer")
    plant(session, CRITIC, NOTES)
    ok(session, "fs.append", path=NOTES, text="The harbour key is under the third stone.")
    ok(session, "events.log", type="observation", rationale="The harbour key is under the third stone.")
    logged(garden)
    for wish in (
        {"text": "The harbour key is under the third stone"},
        {"path": CRITIC},
        {"everything": True},
    ):
        assert result(session, "garden.erase", reason="told", **wish)["events"] > 0
        assert faults(garden) == []
        logged(garden)
        assert faults(garden) == []


def test_a_database_with_an_older_checkpoint_than_the_disk_is_found(
    garden: Garden, account: Account, database: str
) -> None:
    logged(garden)
    account.edit("three\n")
    logged(garden)
    tamper(database, "delete from garden.log_checkpoints where size = 8")
    assert faults(garden) == ["The database ends at 7 entries of the log, .garden/tlog at 8"]


@pytest.fixture
def kept(garden: Garden, account: Account, folder: Path) -> Path:
    """A checkpoint of nine events kept elsewhere, and beside it the log's files at seven."""
    logged(garden)
    shutil.copytree(log_folder(garden.services), folder / "older")
    account.edit("three\n")
    account.edit("four\n")
    logged(garden)
    return Path(shutil.copy(log_folder(garden.services) / CHECKPOINT, folder / "kept"))


def test_a_kept_checkpoint_holds_while_the_log_only_grows(
    garden: Garden, account: Account, kept: Path
) -> None:
    assert faults(garden, str(kept)) == []
    account.edit("five\n")
    logged(garden)
    assert faults(garden, str(kept)) == []


def test_a_kept_checkpoint_shows_that_the_newest_events_were_cut_off(
    garden: Garden, kept: Path, database: str
) -> None:
    shutil.rmtree(log_folder(garden.services))
    shutil.copytree(kept.with_name("older"), log_folder(garden.services))
    tamper(
        database,
        "delete from garden.events where document_version > 2",
        "delete from garden.feed as f using garden.log_leaves as l"
        " where l.leaf >= 7 and l.user_id = f.user_id and l.position = f.position",
        "delete from garden.log_leaves where leaf >= 7",
        "delete from garden.log_checkpoints where size > 7",
    )
    assert faults(garden) == []
    assert faults(garden, str(kept)) == [
        f"Events were cut off: {kept} was signed at 9 entries, and the log has 7"
    ]


def test_a_kept_checkpoint_shows_that_the_log_was_made_anew(
    garden: Garden, account: Account, kept: Path, database: str
) -> None:
    shutil.rmtree(log_folder(garden.services))
    tamper(
        database,
        "truncate garden.log_leaves, garden.log_checkpoints",
        f"update garden.events set actor = 'x' {JOURNALED}",
    )
    account.edit("five\n")
    logged(garden)
    assert faults(garden) == []
    [fault] = faults(garden, str(kept))
    assert fault.startswith("One of the first 9 events was changed, removed or put elsewhere")


def test_a_checkpoint_of_another_log_proves_nothing(garden: Garden, kept: Path) -> None:
    kept.write_text(kept.read_text().replace(str(garden.home.id), "another"))
    [fault] = faults(garden, str(kept))
    assert "proves nothing: The checkpoint is not signed by a key of this home's log" in fault
    [fault] = faults(garden, str(kept.with_name("missing")))
    assert "can't be read: No such file" in fault
