"""A writer and two who recover, each stopped at each of their steps while the others go on.

The writer is alive and holds its lock, or it was paused so long that the server took its lock away, and it
wakes up late, when others have settled what it began.
"""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count, product
from typing import Any

import pytest

from garden.application import Garden
from garden.files.failpoints import Failpoint
from garden.home.folder import Home
from garden.upkeep.reconciliation import adopt, clear_strays, sweep
from tests.support.crowd import Asked
from tests.support.planted import NOTES, PROFILE, ada, ok, opened, patching, plant
from tests.support.promises import broken_promises, text_of, told
from tests.support.stalled import leave_open
from tests.upkeep.actors import Actor, cut_off, staged

OF_A_WRITER = [
    Failpoint.LOCKED, Failpoint.PLANNED, Failpoint.PREPARED, Failpoint.BEGUN, Failpoint.KEPT,
    Failpoint.REPLACED, Failpoint.WRITTEN, Failpoint.SEALED,
]  # fmt: skip
OF_RECOVERY = [
    Failpoint.CLAIMED, Failpoint.LOCKED, Failpoint.STALLED_READ, Failpoint.REPLACED, Failpoint.CONFIRMED,
    Failpoint.COPIED, Failpoint.SETTLED,
]  # fmt: skip
BEFORE_THE_FILE = {Failpoint.BEGUN, Failpoint.KEPT}
AFTER_THE_FILE = {Failpoint.REPLACED, Failpoint.WRITTEN, Failpoint.SEALED}
NOW = timedelta(0)


def patch_profile(number: int) -> Asked:
    return patching(PROFILE, "concerns v1", f"said {number};", idempotencyKey=f"key {number}")


def append_to_notes(number: int) -> Asked:
    return "fs.append", {"path": NOTES, "text": f"said {number};", "idempotencyKey": f"note {number}"}


def begin_a_document(number: int) -> Asked:
    path = f"users/ada/parts/p{number}/profile.md"
    return "md.plant", {"path": path, "title": f"said {number};", "idempotencyKey": f"key {number}"}


@pytest.fixture
def garden(ready_home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Garden]:
    # Recovery gives a document up for now that somebody alive holds; here nobody should wait for that.
    monkeypatch.setattr("garden.application._RECOVERY_LOCK_SECONDS", 0.02)
    with opened(ready_home) as garden:
        plant(ada(garden), PROFILE)
        plant(ada(garden), NOTES)
        yield garden


def recover(garden: Garden) -> list[Any]:
    return [*sweep(garden.services, NOW, pause_seconds=0), *clear_strays(garden.services, "ada")]


def effects(garden: Garden, path: str, number: int) -> int:
    """Count the effects of a request: in the file, and as the account has it."""
    said = f"said {number};"
    committed = [
        event for event in told(garden, path).committed if event.splice and said in event.splice.inserted
    ]
    in_file = text_of(garden, path).count(said) if (garden.home.path / path).exists() else 0
    assert in_file == len(committed), (path, number)
    return in_file


@pytest.mark.parametrize("asking", [patch_profile, append_to_notes, begin_a_document])
@pytest.mark.parametrize("stops_at", OF_A_WRITER)
@pytest.mark.parametrize("wakes_up_late", [False, True], ids=["alive", "wakes up late"])
def test_a_writer_and_two_who_recover_come_to_one_end(
    garden: Garden, database: str, asking: Callable[[int], Asked], stops_at: Failpoint, wakes_up_late: bool
) -> None:
    numbers = count()
    # Whoever recovers waits for a writer who is alive.
    orders = (True, False) if wakes_up_late else (True,)
    for meanwhile, writer_first in product(OF_RECOVERY, orders):
        number = next(numbers)
        tool, args = asking(number)
        with staged():
            writer = Actor(lambda: ada(garden).call(tool, args), stops_at).begin()  # noqa: B023
            if wakes_up_late:
                cut_off(database)
            first = Actor(lambda: recover(garden), meanwhile).begin()
            second = Actor(lambda: recover(garden)).begin()
            second.finish()
            for actor in (writer, first) if writer_first else (first, writer):
                actor.finish()
        answer = writer.result
        recover(garden)
        # What the late writer did after all is adopted as an edit from outside, which names its event.
        list(adopt(garden.services, "ada"))
        assert broken_promises(garden) == [], (stops_at, meanwhile, writer_first)
        done = effects(garden, args["path"], number)
        assert done <= 1, (stops_at, meanwhile, writer_first)
        if answer["ok"]:
            assert done == 1, (stops_at, meanwhile, writer_first)
        else:
            assert answer["error"]["code"] in {"unavailable", "precondition_failed", "in_progress"}, answer
        if stops_at in BEFORE_THE_FILE and not (answer["ok"] or writer_first):
            # What its writer would need was taken away by those who settled it.
            assert not done, (stops_at, meanwhile)
        again = ok(ada(garden).call(tool, args))
        if stops_at in AFTER_THE_FILE:
            assert again["meta"]["replayed"], (stops_at, meanwhile)
        assert effects(garden, args["path"], number) == 1
        assert broken_promises(garden) == []


@pytest.mark.parametrize(
    "stops_at",
    [
        Failpoint.LOCKED,
        Failpoint.HALF_BEGUN,
        Failpoint.BEGUN,
        Failpoint.REPLACED,
        Failpoint.WRITTEN,
        Failpoint.HALF_SEALED,
        Failpoint.SEALED,
    ],
)
@pytest.mark.parametrize("wakes_up_late", [False, True], ids=["alive", "wakes up late"])
def test_a_move_and_two_who_recover_come_to_one_end(
    garden: Garden, database: str, stops_at: Failpoint, wakes_up_late: bool
) -> None:
    here, there = NOTES, "users/ada/parts/critic/notes.md"
    for number, meanwhile in enumerate(OF_RECOVERY):
        text = text_of(garden, here)
        move = {"path": here, "newPath": there, "idempotencyKey": f"move {number}"}
        with staged():
            mover = Actor(lambda: ada(garden).call("fs.move", move), stops_at).begin()  # noqa: B023
            if wakes_up_late:
                cut_off(database)
            first = Actor(lambda: recover(garden), meanwhile).begin()
            Actor(lambda: recover(garden)).begin().finish()
            mover.finish()
            first.finish()
        recover(garden)
        list(adopt(garden.services, "ada"))
        places = [path for path in (here, there) if (garden.home.path / path).exists()]
        assert [text_of(garden, path) for path in places] == [text], (stops_at, meanwhile)
        if mover.result["ok"]:
            assert places == [there]
        assert broken_promises(garden) == [], (stops_at, meanwhile)
        if places == [there]:
            here, there = there, here


def test_clocks_that_jump_confuse_nobody(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)  # noqa: S311 - it only chooses jumps

    def jumping() -> datetime:
        return datetime.now(UTC) + timedelta(hours=chance.uniform(-20, 20))

    for account in (garden.services.store, garden.services.recovery_path._store):
        monkeypatch.setattr(account, "_now", jumping)
    monkeypatch.setattr(garden.services.recoveries, "_now", jumping)
    for number in range(60):
        for tool, args in (patch_profile(number), append_to_notes(number)):
            if chance.random() < 0.2:
                leave_open(garden, args["path"], f"lost {number}", written=chance.random() < 0.5)
            if chance.random() < 0.5:
                ok(ada(garden).call(tool, args))
                ok(ada(garden).call(tool, args))
                assert effects(garden, args["path"], number) == 1
    # However the clocks stand, no saga looks young for ever.
    while any(list(sweep(garden.services, timedelta(hours=1), pause_seconds=0)) for _ in range(20)):
        pass
    assert garden.services.recoveries.counts() == (0, 0)
    assert broken_promises(garden) == []
