"""The judge: a consistent ledger passes, and every kind of broken promise is named."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock
from uuid import UUID, uuid4

import pytest

from garden.application import Garden
from garden.events.stream import LockedStream
from garden.files.paths import GardenPath
from garden.upkeep.reconciliation import reconcile
from garden.writing import adoption
from tests.crash.editor import on_the_way, put_back
from tests.crash.judge import judge
from tests.crash.ledger import Ledger, Request, Save, Told, hash_of
from tests.crash.workload import words_of
from tests.support.planted import NOTES, ada, ok, plant
from tests.support.promises import told

KEYS = ("writer0-1-1", "writer0-1-2")
Lie = Callable[[Garden, Ledger], None]


def request(key: str) -> Request:
    words = words_of(key)
    return Request(key, "ada", "fs.append", {"path": NOTES, "text": words, "idempotencyKey": key}, words)


@pytest.fixture
def ledger(garden: Garden) -> Ledger:
    """A ledger with every request and every answer."""
    plant(ada(garden), NOTES)
    planted = Request("plant", "ada", "fs.write", {})
    ledger = Ledger({"plant": Told(planted, asked=1)})
    for key in KEYS:
        answer = ok(ada(garden).call("fs.append", request(key).args))
        ledger.told[key] = Told(request(key), asked=1, answer=answer)
    return ledger


def test_an_honest_account_passes(garden: Garden, ledger: Ledger) -> None:
    assert judge(garden, "ada", ledger) == []


def save(file: Path, text: str) -> None:
    """Save a file as an editor does."""
    fresh = file.with_suffix(".swp")
    fresh.write_text(text)
    fresh.replace(file)


def undone_by_hand(garden: Garden, ledger: Ledger) -> None:
    """Undo the last change by hand, after recording it."""
    file = garden.home.path / NOTES
    before = file.read_bytes()
    *_, known, _ = told(garden, NOTES).replay().texts.values()
    after = put_back(before, known.encode(), "editor0")
    assert after is not None
    ledger.by_hand.take_saving(NOTES, Save(hash_of(after), hash_of(before)))
    save(file, after.decode())
    ledger.by_hand.take_saved(NOTES)
    brought_in_order(garden)


def found_half_saved(garden: Garden, ledger: Ledger) -> None:
    """Adopt a file in the middle of a save, and again after it."""
    file = garden.home.path / NOTES
    before = file.read_bytes()
    words = words_of(KEYS[0])
    after = before.replace(f"{words}\n".encode(), b"")
    states = list(on_the_way(before, after))
    assert states
    ledger.by_hand.take_saving(NOTES, Save(hash_of(after), hash_of(before)), map(hash_of, states))
    for content in (*states, after):
        file.write_bytes(content)
        brought_in_order(garden)
    ledger.by_hand.take_saved(NOTES)


def snapshot_cut_off(garden: Garden, ledger: Ledger) -> None:
    """A snapshot killed between its copy and its event."""
    cut_off(ledger)
    spare_copy(garden, (garden.home.path / NOTES).read_text())


def sealed_too_late(garden: Garden, ledger: Ledger) -> None:
    """An acknowledged change whose seal is lost with the database, and that is undone by hand."""
    key = "writer0-1-3"
    file = garden.home.path / NOTES
    before = file.read_bytes()
    with mock.patch.object(LockedStream, "finish"):
        answer = ok(ada(garden).call("fs.append", request(key).args))
    ledger.told[key] = Told(request(key), asked=1, answer=answer)
    ledger.by_hand.take_saving(NOTES, Save(hash_of(before), hash_of(file.read_bytes())))
    save(file, before.decode())
    ledger.by_hand.take_saved(NOTES)
    brought_in_order(garden)


def cut_off(ledger: Ledger) -> None:
    ledger.told["snapshot"] = Told(
        Request("snapshot", "ada", "md.snapshot_history", {"path": NOTES}), asked=1
    )


def spare_copy(garden: Garden, text: str) -> None:
    copy = garden.home.path / GardenPath(NOTES).copy_of(datetime.now(UTC), uuid4()).text
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text)


@pytest.mark.parametrize("edit", [undone_by_hand, found_half_saved, snapshot_cut_off, sealed_too_late])
def test_an_explained_difference_is_no_broken_promise(garden: Garden, ledger: Ledger, edit: Lie) -> None:
    edit(garden, ledger)
    assert judge(garden, "ada", ledger) == []


def acknowledged_and_never_done(_: Garden, ledger: Ledger) -> None:
    ledger.told["writer0-1-3"] = Told(request("writer0-1-3"), asked=1, answer={"result": {}, "meta": {}})


def refused_and_done(_: Garden, ledger: Ledger) -> None:
    told = ledger.told[KEYS[0]]
    told.answer, told.refusal = None, {"code": "patch_conflict"}


def answered_with_another_event(_: Garden, ledger: Ledger) -> None:
    ledger.told[KEYS[0]].answer = ledger.told[KEYS[1]].answer


def refused_for_no_good_reason(_: Garden, ledger: Ledger) -> None:
    ledger.told["writer0-1-3"] = Told(request("writer0-1-3"), asked=1, refusal={"code": "internal"})


def done_twice(garden: Garden, ledger: Ledger) -> None:
    again = {**request(KEYS[0]).args, "idempotencyKey": "writer0-1-3"}
    answer = ok(ada(garden).call("fs.append", again))
    ledger.told["writer0-1-3"] = Told(request("writer0-1-3"), asked=1, answer=answer)


def saved_by_hand_and_lost(_: Garden, ledger: Ledger) -> None:
    ledger.by_hand.brought[words_of("editor0-1-1")] = NOTES


def brought_in_order(garden: Garden) -> None:
    assert all(each.is_well for each in reconcile(garden.services, ["ada"]))


def vanished_without_an_edit(garden: Garden, _: Ledger) -> None:
    """An acknowledged change vanishes from the file, and is recorded as a person's edit."""
    file = garden.home.path / NOTES
    save(file, file.read_text().replace(words_of(KEYS[1]), ""))
    brought_in_order(garden)


def lost_what_was_put_back_once(garden: Garden, ledger: Ledger) -> None:
    """Content saved by hand is back without another save."""
    undone_by_hand(garden, ledger)
    file = garden.home.path / NOTES
    older = file.read_text()
    key = "writer0-1-3"
    answer = ok(ada(garden).call("fs.append", request(key).args))
    ledger.told[key] = Told(request(key), asked=1, answer=answer)
    save(file, older)
    brought_in_order(garden)


def undone_by_hand_and_made_again(garden: Garden, ledger: Ledger) -> None:
    """An undo by hand is treated as a fault of the disk."""
    with mock.patch("garden.files.garden_files.touched_at", return_value=datetime.fromtimestamp(0, UTC)):
        undone_by_hand(garden, ledger)


def names_another_failed_change(garden: Garden, ledger: Ledger) -> None:
    """A loss attributed to a failed change that was to write something else."""
    with mock.patch.object(adoption, "_find_failed_event", return_value=str(UUID(int=7))):
        vanished_without_an_edit(garden, ledger)


def a_copy_of_nothing_that_ever_was(garden: Garden, ledger: Ledger) -> None:
    """A killed snapshot may leave a copy, but only of a version that existed."""
    cut_off(ledger)
    spare_copy(garden, "made up")


def two_copies_of_one_snapshot(garden: Garden, ledger: Ledger) -> None:
    cut_off(ledger)
    for _ in range(2):
        spare_copy(garden, (garden.home.path / NOTES).read_text())


def torn(garden: Garden, _: Ledger) -> None:
    file = garden.home.path / NOTES
    file.write_text(file.read_text()[:-10])


def taken_away(garden: Garden, ledger: Ledger) -> None:
    """A diff that was to add words also removes others."""
    words = words_of("writer0-1-3")
    diff = f"--- a/{NOTES}\n+++ b/{NOTES}\n@@ -1,1 +1,1 @@\n-{words_of(KEYS[0])}\n+{words}\n"
    args = {"path": NOTES, "diffText": diff, "idempotencyKey": "writer0-1-3"}
    answer = ok(ada(garden).call("fs.patch", args))
    ledger.told["writer0-1-3"] = Told(
        Request("writer0-1-3", "ada", "fs.patch", args, words), asked=1, answer=answer
    )


@pytest.mark.parametrize(
    ("lie", "named"),
    [
        (acknowledged_and_never_done, "was acknowledged and has no effect"),
        (refused_and_done, "and yet carried out"),
        (answered_with_another_event, "and was answered with"),
        (refused_for_no_good_reason, "was refused"),
        (done_twice, "2 times"),
        (saved_by_hand_and_lost, "was saved by hand"),
        (vanished_without_an_edit, "text vanished from the file without an edit"),
        (lost_what_was_put_back_once, "text vanished from the file without an edit"),
        (undone_by_hand_and_made_again, "saved by hand vanished"),
        (names_another_failed_change, "was not to write"),
        (a_copy_of_nothing_that_ever_was, "no event tells of this copy"),
        (two_copies_of_one_snapshot, "no event tells of this copy"),
        (torn, "is not the newest version"),
        (taken_away, "away"),
    ],
)
def test_a_broken_promise_is_named(garden: Garden, ledger: Ledger, lie: Lie, named: str) -> None:
    lie(garden, ledger)
    assert any(named in fault for fault in judge(garden, "ada", ledger))
