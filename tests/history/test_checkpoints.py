"""Making checkpoints: what is logged, in what order, and what a killed process leaves."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from garden.application import Garden
from garden.events.database import connection
from garden.files.failpoints import Failpoint, watch_failpoints
from garden.history.checkpoints import (
    LogInconsistentError,
    log_folder,
    log_signers,
    make_checkpoints,
    published_note,
    verified_checkpoint,
)
from garden.history.notes import Checkpoint, holding
from garden.history.proofs import prove_event
from garden.history.tiles import Tiles
from garden.home.folder import Home
from garden.home.keys import rotate_keys
from tests.events.test_verifier import tamper
from tests.history import rfc6962
from tests.history.conftest import faults, logged
from tests.support.accounts import BEN, Account
from tests.support.planted import opened

STEPS = (Failpoint.LEAVES_NUMBERED, Failpoint.TILES_WRITTEN, Failpoint.CHECKPOINT_STORED)


class KilledError(BaseException):
    """Ends the work as a kill would, past every handler of errors."""


def published(garden: Garden) -> Checkpoint:
    note = published_note(garden.services)
    assert note is not None
    return verified_checkpoint(garden.services, note)


def entries(garden: Garden) -> list[bytes]:
    tiles = Tiles(log_folder(garden.services), published(garden).size)
    return [tiles.entry(index) for index in range(tiles.size)]


def asked(database: str, query: str) -> list[tuple[object, ...]]:
    with connection(database) as opened:
        return opened.execute(query.encode()).fetchall()


def test_an_empty_home_has_a_checkpoint_of_nothing(garden: Garden) -> None:
    assert list(make_checkpoints(garden.services)) == [0]
    assert published(garden) == Checkpoint(f"memory-garden/{garden.home.id}", 0, rfc6962.root([]))
    assert list(make_checkpoints(garden.services)) == [0]
    assert published(garden).size == 0
    assert faults(garden) == []


def test_every_settled_event_and_annotation_has_a_leaf(
    garden: Garden, account: Account, database: str
) -> None:
    with account.store.document(BEN, "users/ben/notes.md") as stream:
        still_open = account.begin(stream, "open\n")
        assert logged(garden) == 7
    rows = asked(
        database,
        "select case when what = 'annotated' then a.annotation_id else f.event_id end from garden.feed as f"
        " join garden.log_leaves as l using (user_id, position) left join garden.event_annotations as a"
        " on a.user_id = f.user_id and a.sequence = f.sequence and f.what = 'annotated' order by l.leaf",
    )
    assert [str(event_id) for (event_id,) in rows] == [each.decode().split()[1] for each in entries(garden)]
    assert [each.split(b"/")[0] for each in entries(garden)].count(b"annotation") == 1
    assert str(still_open.event_id) not in str(entries(garden))
    assert published(garden).root == rfc6962.root(entries(garden))


def test_later_events_follow_and_earlier_leaves_stay(garden: Garden, account: Account) -> None:
    logged(garden)
    before = entries(garden)
    for number in range(300):
        account.edit(f"{number}\n", caller=BEN, path="users/ben/notes.md")
    account.edit("three\n")
    assert logged(garden) == 301
    assert entries(garden)[:7] == before
    assert published(garden).root == rfc6962.root(entries(garden))
    assert faults(garden) == []


def test_a_checkpoint_ends_although_events_settle_meanwhile(garden: Garden, account: Account) -> None:
    def write(reached: Failpoint) -> None:
        if reached is Failpoint.CHECKPOINT_STORED and len(account.texts) < 9:
            account.edit("meanwhile\n", path=f"users/ada/parts/part-{len(account.texts)}/notes.md")

    with watch_failpoints(write):
        assert list(make_checkpoints(garden.services)) == [7]


def test_no_entry_shows_a_word_a_user_or_a_path(garden: Garden, account: Account) -> None:
    account.edit("harbour\n", path="users/ada/parts/critic/profile.md")
    logged(garden)
    whole = b"".join(file.read_bytes() for file in log_folder(garden.services).rglob("*") if file.is_file())
    for word in (b"harbour", b"ada", b"critic", b"notes", b"thought", b"companion"):
        assert word not in b"\n".join(entries(garden)), word
        assert b"users/" not in whole


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.usefixtures("account")
def test_after_a_kill_at_any_step_the_next_run_goes_on(
    garden: Garden, account: Account, step: Failpoint
) -> None:
    logged(garden)
    account.edit("three\n")

    def kill(reached: Failpoint) -> None:
        if reached is step:
            raise KilledError

    with watch_failpoints(kill), pytest.raises(KilledError):
        logged(garden)
    assert faults(garden) == []
    account.edit("four\n", caller=BEN, path="users/ben/notes.md")
    logged(garden)
    assert published(garden).size == 9
    assert published(garden).root == rfc6962.root(entries(garden))
    assert faults(garden) == []


@pytest.mark.usefixtures("account")
def test_what_a_killed_writer_left_beside_the_files_is_removed(garden: Garden, account: Account) -> None:
    logged(garden)
    folder = log_folder(garden.services)
    beside = [folder, *{path.parent for path in folder.glob("tile/**/*") if path.is_file()}]
    for each in beside:
        (each / ".new-7-2565dec4").write_bytes(b"half a ti")
    account.edit("three\n")
    logged(garden)
    assert not list(folder.rglob(".new-*"))
    assert faults(garden) == []


@pytest.mark.usefixtures("account")
def test_a_checkpoint_after_a_kill_is_published_without_new_events(garden: Garden) -> None:
    def kill(reached: Failpoint) -> None:
        if reached is Failpoint.CHECKPOINT_STORED:
            raise KilledError

    with watch_failpoints(kill), pytest.raises(KilledError):
        logged(garden)
    assert published_note(garden.services) is None
    assert logged(garden) == 0
    assert published(garden).size == 7


def test_a_proof_publishes_the_checkpoint_that_a_kill_left_stored(garden: Garden, account: Account) -> None:
    logged(garden)
    event = account.edit("three\n")

    def kill(reached: Failpoint) -> None:
        if reached is Failpoint.CHECKPOINT_STORED:
            raise KilledError

    with watch_failpoints(kill), pytest.raises(KilledError):
        logged(garden)
    proof = prove_event(garden.services, "ada", event.event_id)
    assert (proof.index, published(garden).size) == (7, 8)


def test_lost_files_are_made_again_and_compared_with_the_stored_checkpoint(
    garden: Garden, account: Account, database: str
) -> None:
    logged(garden)
    shutil.rmtree(log_folder(garden.services))
    account.edit("three\n")
    assert logged(garden) == 1
    assert faults(garden) == []
    shutil.rmtree(log_folder(garden.services))
    tamper(database, "update garden.events set actor = 'x' where stream = ''")
    with pytest.raises(LogInconsistentError, match="tiles do not have the root"):
        logged(garden)


@pytest.mark.usefixtures("account")
def test_processes_that_make_checkpoints_at_once_agree(garden: Garden, ready_home: Home) -> None:
    with opened(ready_home) as other, ThreadPoolExecutor(4) as threads:
        counts = list(threads.map(logged, [garden, other, garden, other]))
    assert sorted(counts) == [0, 0, 0, 7]
    assert faults(garden) == []


def test_a_rotated_key_signs_beside_the_old_ones(garden: Garden, account: Account) -> None:
    logged(garden)
    rotate_keys(garden.settings, garden.home)
    account.keyring = garden.keys()
    account.edit("three\n")
    logged(garden)
    note = published_note(garden.services)
    assert note is not None
    assert len(holding(note, [each.public for each in log_signers(garden.services)])) == 4
    assert faults(garden) == []


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        ("delete from garden.log_checkpoints where size = 9", "on the disk has 9 entries and the database 8"),
        ("update garden.log_checkpoints set root = sha256('') where size = 9", "in the database was changed"),
        (
            "delete from garden.events where created_at = (select max(created_at) from garden.events)",
            "a feed lists is gone",
        ),
    ],
)
def test_nothing_is_signed_that_contradicts_a_checkpoint(
    garden: Garden, account: Account, database: str, harm: str, reason: str
) -> None:
    for text in ("three\n", "four\n", "five\n"):
        logged(garden)
        account.edit(text)
    tamper(database, harm)
    with pytest.raises(LogInconsistentError, match=reason):
        logged(garden)
    assert published(garden).size == 9


def test_nothing_is_signed_on_top_of_changed_tiles(garden: Garden, account: Account) -> None:
    logged(garden)
    tile = log_folder(garden.services) / "tile/0/000.p/7"
    tile.write_bytes(bytes(7 * 32))
    account.edit("three\n")
    with pytest.raises(LogInconsistentError, match="tiles do not have the root"):
        logged(garden)
