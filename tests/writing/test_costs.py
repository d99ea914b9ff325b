"""The cost of a write, counted; it does not grow with the history."""

import math
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from cProfile import Profile
from types import FrameType
from typing import Any

import pytest

from garden.application import Garden, open_garden
from garden.events.database import connection
from garden.events.pool import Pool, PooledConnection
from garden.writing.indexing import Indexing
from tests.support.calls import calls_of
from tests.support.crowd import Asked
from tests.support.dying import Steps
from tests.support.planted import NOTES, PROFILE, ada, forget_heads, ok, patching, plant

PATCH = ["create", "write", "add_event", "fsync", "link", "exchange", "unlink", "end_event", "fsync", "fsync"]
APPEND = ["create", "write", "add_event", "fsync", "exchange", "unlink", "end_event", "fsync"]


def call(garden: Garden, asked: Asked) -> Callable[[], object]:
    return lambda: ok(ada(garden).call(*asked))


def round_trips(garden: Garden, work: Callable[[], object]) -> tuple[int, int]:
    """Count the round trips (Sync messages) and Parse messages on the connection used last."""
    pool = garden.services.store._pool
    with tempfile.TemporaryFile() as trace:
        with pool.connection() as connection:
            connection.pgconn.trace(trace.fileno())
        work()
        with pool.connection() as same:
            assert same is connection
            connection.pgconn.untrace()
        trace.seek(0)
        lines = trace.read().decode().splitlines()
    return sum("Sync" in line for line in lines), sum("Parse\t" in line for line in lines)


def connections_taken(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> int:
    taken = [0]

    def counted(take: Callable[[Pool], Any]) -> Callable[[Pool], Any]:
        def taking(pool: Pool) -> Any:
            taken[0] += 1
            return take(pool)

        return taking

    with monkeypatch.context() as patched:
        for name in ("take", "take_idle"):
            patched.setattr(Pool, name, counted(getattr(Pool, name)))
        work()
    return taken[0]


def serial_waits(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> int:
    """Count the waits for the database or the disk that are not part of another."""
    waits, depth = [0], [0]

    def counted(wait: Callable[..., Any]) -> Callable[..., Any]:
        def waiting(*words: Any, **named: Any) -> Any:
            waits[0] += not depth[0]
            depth[0] += 1
            try:
                return wait(*words, **named)
            finally:
                depth[0] -= 1

        return waiting

    with monkeypatch.context() as patched:
        patched.setattr(PooledConnection, "wait", counted(PooledConnection.wait))
        patched.setattr(os, "fsync", counted(os.fsync))
        work()
    return waits[0]


def system_calls(work: Callable[[], object]) -> Counter[str]:
    """Count the system calls made through `os`."""
    calls = Counter[str]()

    def profile(_frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call" and getattr(function, "__module__", None) == "posix":
            calls[function.__name__] += 1

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def steps_of(work: Callable[[], object]) -> list[str]:
    with Steps(None) as steps:
        work()
    return steps.taken


@pytest.mark.parametrize(
    ("path", "anchor", "wanted"), [(PROFILE, "concerns v1", PATCH), (NOTES, "s3 v1", APPEND)]
)
def test_a_patch_costs_the_same_with_a_hundred_copies_and_events_as_with_one(
    garden: Garden, monkeypatch: pytest.MonkeyPatch, path: str, anchor: str, wanted: list[str]
) -> None:
    plant(ada(garden), path)

    def costs(label: str) -> tuple[Any, ...]:
        asked = [call(garden, patching(path, anchor, f"{label} {number}")) for number in range(6)]
        asked[0]()
        return (
            round_trips(garden, asked[1]),
            connections_taken(monkeypatch, asked[2]),
            serial_waits(monkeypatch, asked[3]),
            steps_of(asked[4]),
            system_calls(asked[5]),
        )

    # Looking after the settings' file takes a step each second.
    monkeypatch.setattr(garden.gates.policies, "_renew_at", math.inf)
    for number in range(2):
        call(garden, patching(path, anchor, f"warm {number}"))()
    few = costs("few")
    # The account of calls has its rows all the same, without a round trip, a connection or a wait of its own.
    assert [row["status"] for row in calls_of(garden) if row["tool"] == "md.patch_section"] == ["success"] * 8
    assert few[:4] == ((2, 0), 1, 2, wanted)
    assert few[4]["fsync"] == wanted.count("fsync")

    # Replaces one line each time, so that only the copies and the events grow.
    replaced = patching(path, anchor, "")[1]
    for number in range(100):
        ok(ada(garden).call("md.patch_section", {**replaced, "change": {"replace": f"- so far {number}"}}))
    assert len(list((garden.home.path / "history/ada").rglob("*.md"))) >= 100
    assert costs("many") == few


@pytest.mark.parametrize("lines", [20, 2000])
def test_the_passages_of_an_edit_cost_few_calls_whatever_the_section(
    garden: Garden, monkeypatch: pytest.MonkeyPatch, lines: int
) -> None:
    plant(ada(garden), NOTES)
    call(garden, patching(NOTES, "s3 v1", "\n".join(f"- line {number}" for number in range(lines))))()
    counts = []
    work_out = Indexing.encoded_changes

    def counted(*words: Any) -> str | None:
        with Profile() as profile:
            changes = work_out(*words)
        counts.append(sum(each.callcount for each in profile.getstats()))
        return changes

    monkeypatch.setattr(Indexing, "encoded_changes", counted)
    for word in ("one", "two", "three"):
        call(garden, patching(NOTES, "s3 v1", f"line {word} of her own"))()
    assert counts[-1] < 400


@pytest.mark.parametrize("kilobytes", [6, 490])
def test_the_event_of_a_small_edit_is_small_whatever_the_document(
    garden: Garden, database: str, kilobytes: int
) -> None:
    """A changed line near the top, and the Change Log line at the end."""
    plant(ada(garden), PROFILE)
    body = "- one of very many items\n" * (kilobytes * 1024 // 25)
    args = {"path": PROFILE, "sectionAnchor": "strengths v1", "change": {"replace": body}}
    ok(ada(garden).call("md.patch_section", args))
    edited = ok(ada(garden).call(*patching(PROFILE, "concerns v1", "a line of her own")))
    with connection(database) as owner:
        [(size, places)] = owner.execute(
            "select pg_column_size(e.*), cardinality(e.splice_offsets) from garden.events as e"
            " where event_id = %s",
            [edited["meta"]["eventId"]],
        ).fetchall()
    assert size < 4096
    assert places == 2


def test_an_edit_right_after_that_of_another_process_costs_three_round_trips(garden: Garden) -> None:
    """The file shows that the head is not the known one, so that no plan is made in vain."""
    plant(ada(garden), PROFILE)
    edits = (call(garden, patching(PROFILE, "concerns v1", f"said {number}")) for number in range(8))
    for number in range(6):
        if number % 2:
            forget_heads(garden)
        next(edits)()
    with open_garden(garden.home.path) as other:
        call(other, patching(PROFILE, "needs v1", "said elsewhere"))()
    costs = [round_trips(garden, edit) for edit in edits]
    assert costs == [(3, 0), (2, 0)]


def test_a_replay_costs_two_round_trips_and_touches_no_file(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(ada(garden), PROFILE)
    again = call(garden, patching(PROFILE, "concerns v1", "said"))
    for _ in range(4):
        again()
    assert round_trips(garden, again) == (2, 0)
    assert connections_taken(monkeypatch, again) == 1
    assert steps_of(again) == ["unlock"]


def test_a_refusal_costs_two_round_trips_and_writes_nothing(garden: Garden) -> None:
    plant(ada(garden), PROFILE)
    tool, args = patching(PROFILE, "concerns v1", "said", ifMatch="none")

    def refused() -> None:
        assert ada(garden).call(tool, args)["error"]["code"] == "precondition_failed"

    for _ in range(3):
        refused()
    assert round_trips(garden, refused) == (2, 0)
    assert steps_of(refused) == ["unlock"]


def test_a_move_costs_no_second_connection(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(ada(garden), NOTES)
    moved = call(garden, ("fs.move", {"path": NOTES, "newPath": "users/ada/parts/critic/notes.md"}))
    assert connections_taken(monkeypatch, moved) == 1
