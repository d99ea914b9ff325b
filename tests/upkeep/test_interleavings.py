"""A writer and two recoveries, each stopped at each of its steps while the others go on.

The writer is alive, or it was paused until the server took its lock away, and it wakes up late, when a
recovery has settled its saga. It planned under its lock, or before it took the lock. `make test` takes a
pairwise sample of the cases, `make soak` all.
"""

import os
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from garden.application import Garden
from garden.files.failpoints import Failpoint
from garden.home.folder import Home
from garden.upkeep.reconciliation import adopt, clear_strays, sweep
from tests.support.crowd import Asked
from tests.support.planted import NOTES, PROFILE, ada, forget_heads, ok, opened, patching, plant
from tests.support.promises import broken_promises, inserted_by, text_of, told
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
EVERY_CASE = os.environ.get("GARDEN_TEST_INTERLEAVINGS") == "all"


def patch_profile(number: int) -> Asked:
    return patching(PROFILE, "concerns v1", f"said {number};", idempotencyKey=f"key {number}")


def append_to_notes(number: int) -> Asked:
    return "fs.append", {"path": NOTES, "text": f"said {number};", "idempotencyKey": f"note {number}"}


def begin_a_document(number: int) -> Asked:
    path = f"users/ada/parts/p{number}/profile.md"
    return "md.plant", {"path": path, "title": f"said {number};", "idempotencyKey": f"key {number}"}


@pytest.fixture
def garden(ready_home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Garden]:
    # Recovery waits this long for a document that a live writer holds.
    monkeypatch.setattr("garden.application._RECOVERY_LOCK_SECONDS", 0.02)
    with opened(ready_home) as garden:
        plant(ada(garden), PROFILE)
        plant(ada(garden), NOTES)
        yield garden


def recover(garden: Garden) -> list[Any]:
    return [*sweep(garden.services, NOW, pause_seconds=0), *clear_strays(garden.services, "ada")]


def effects(garden: Garden, path: str, number: int) -> int:
    """Count the effects of a request, which must be the same in the file and in the events."""
    said = f"said {number};"
    committed = [event for event in told(garden, path).committed if said in inserted_by(event)]
    in_file = text_of(garden, path).count(said) if (garden.home.path / path).exists() else 0
    assert in_file == len(committed), (path, number)
    return in_file


# Whether the writer wakes up late, and then whether it goes on before the recovery that is stopped. Recovery
# waits for a live writer, so there the order does not matter.
ENDINGS = [(False, True), (True, True), (True, False)]


@pytest.mark.parametrize("stops_at", OF_A_WRITER)
def test_a_writer_and_two_recoveries_come_to_one_end(
    garden: Garden, database: str, stops_at: Failpoint
) -> None:
    place = OF_A_WRITER.index(stops_at)
    cases = [
        (make_call, meanwhile, *ending)
        for (m, meanwhile), (c, make_call), (e, ending) in product(
            enumerate(OF_RECOVERY),
            enumerate((patch_profile, append_to_notes, begin_a_document)),
            enumerate(ENDINGS),
        )
        # With any two of the four choices there is a case.
        if EVERY_CASE or (c == (place + m) % 3 and e == (place + 2 * m) % 3)
    ]
    for number, (make_call, meanwhile, wakes_up_late, writer_first) in enumerate(cases):
        case = (make_call.__name__, stops_at, meanwhile, wakes_up_late, writer_first)
        tool, args = make_call(number)
        if number % 2 or stops_at is Failpoint.LOCKED:
            forget_heads(garden)
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
        # A write by the late writer after all is adopted as an outside edit that names its event.
        list(adopt(garden.services, "ada"))
        assert broken_promises(garden) == [], case
        done = effects(garden, args["path"], number)
        assert done <= 1, case
        if answer["ok"]:
            assert done == 1, case
        else:
            assert answer["error"]["code"] in {"unavailable", "precondition_failed", "in_progress"}, answer
        if stops_at in BEFORE_THE_FILE and not (answer["ok"] or writer_first):
            # Settling took away what the writer would need.
            assert not done, case
        again = ok(ada(garden).call(tool, args))
        if stops_at in AFTER_THE_FILE:
            assert again["meta"]["replayed"], case
        assert effects(garden, args["path"], number) == 1, case
        assert broken_promises(garden) == [], case


MOVE_STOPS = [
    Failpoint.LOCKED, Failpoint.HALF_BEGUN, Failpoint.BEGUN, Failpoint.REPLACED, Failpoint.WRITTEN,
    Failpoint.HALF_SEALED, Failpoint.SEALED,
]  # fmt: skip


@pytest.mark.parametrize("stops_at", MOVE_STOPS)
def test_a_move_and_two_recoveries_come_to_one_end(
    garden: Garden, database: str, stops_at: Failpoint
) -> None:
    here, there = NOTES, "users/ada/parts/critic/notes.md"
    place = MOVE_STOPS.index(stops_at)
    cases = [
        (meanwhile, wakes_up_late)
        for (m, meanwhile), wakes_up_late in product(enumerate(OF_RECOVERY), (False, True))
        if EVERY_CASE or wakes_up_late == (place + m) % 2
    ]
    for number, (meanwhile, wakes_up_late) in enumerate(cases):
        case = (stops_at, meanwhile, wakes_up_late)
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
        assert [text_of(garden, path) for path in places] == [text], case
        if mover.result["ok"]:
            assert places == [there], case
        assert broken_promises(garden) == [], case
        if places == [there]:
            here, there = there, here


def test_clocks_that_jump_do_no_harm(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)  # noqa: S311 - it only chooses jumps

    def jumping() -> datetime:
        return datetime.now(UTC) + timedelta(hours=chance.uniform(-20, 20))

    for account in (garden.services.store, garden.services.recovery_path.store):
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
    # No saga looks young for ever, even under wrong clocks.
    while any(list(sweep(garden.services, timedelta(hours=1), pause_seconds=0)) for _ in range(20)):
        pass
    assert garden.services.recoveries.counts() == (0, 0)
    assert broken_promises(garden) == []
