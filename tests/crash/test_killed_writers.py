"""A writer is killed at random moments: acknowledged changes are there once, and no document is torn."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import pytest

from garden.application import Garden
from tests.crash.sampling import FULL
from tests.support.calls import calls_of
from tests.support.crowd import REPOSITORY
from tests.support.planted import NOTES, PROFILE, ada, ok, patching, plant
from tests.support.promises import broken_promises, text_of, told
from tests.support.writer import PATHS, THIRD, asked

KILLS = int(os.environ.get("GARDEN_TEST_KILLS", "6" if FULL else "2"))
# A write takes a few milliseconds, so a kill within as many meets any of its steps.
LONGEST_SECONDS = 0.02
WORDS_MAX = 30


@dataclass
class Heard:
    """What a writer reported before it was killed: its request numbers by document."""

    asked: set[tuple[str, int]] = field(default_factory=set)
    done: set[tuple[str, int]] = field(default_factory=set)
    other: list[str] = field(default_factory=list)

    def hear(self, line: str) -> None:
        what, path, number = json.loads(line)
        if what == "asking":
            self.asked.add((path, number))
        elif what == "done":
            self.done.add((path, number))
        else:
            self.other.append(line)


@contextmanager
def writing(garden: Garden, name: str) -> Iterator[subprocess.Popen[str]]:
    writer = subprocess.Popen(
        [sys.executable, "-m", "tests.support.writer", str(garden.home.path), name],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    )
    with writer:
        try:
            yield writer
        finally:
            writer.kill()


def listen(writer: subprocess.Popen[str], heard: Heard, words: int) -> None:
    assert writer.stdout is not None
    for _ in range(words):
        heard.hear(writer.stdout.readline())


def kill(writer: subprocess.Popen[str], heard: Heard) -> None:
    writer.send_signal(signal.SIGKILL)
    assert writer.stdout is not None
    for line in writer.stdout:
        heard.hear(line)
    assert writer.wait() == -signal.SIGKILL


def heard_until_killed(garden: Garden, name: str, moment: random.Random) -> Heard:
    heard = Heard()
    with writing(garden, name) as writer:
        listen(writer, heard, moment.randint(1, WORDS_MAX))
        # Not to wait for something: to choose the moment.
        time.sleep(moment.uniform(0, LONGEST_SECONDS))
        kill(writer, heard)
    return heard


def counted(garden: Garden, name: str) -> Callable[[str, int], int]:
    texts = {path: text_of(garden, path) for path in PATHS}
    return lambda path, number: texts[path].count(f"{name} said {number};")


def events_of(garden: Garden, name: str) -> dict[tuple[str, int], int]:
    """Count the committed events of each request of this writer."""
    found: dict[tuple[str, int], int] = {}
    for path in PATHS:
        for event in told(garden, path).committed:
            prefix = f"caller:{path} {name} said "
            if (event.idempotency_key or "").startswith(prefix):
                number = int((event.idempotency_key or "").removeprefix(prefix).rstrip(";"))
                found[path, number] = found.get((path, number), 0) + 1
    return found


def open_or_missing_calls(garden: Garden) -> list[str]:
    """Name the calls of killed writers that are open, and the committed writes without a call."""
    rows = calls_of(garden)
    called = {row["event_id"] for row in rows if row["status"] == "success"}
    committed = {event.event_id for path in PATHS for event in told(garden, path).committed}
    return [
        *(f"{row['call_id']} is open" for row in rows if row["status"] == "pending"),
        *(f"{each} has no call" for each in committed - called),
    ]


def plant_all(garden: Garden) -> None:
    plant(ada(garden), PROFILE)
    plant(ada(garden), NOTES)
    ok(ada(garden).call("md.plant", {"path": THIRD}))


@pytest.mark.parametrize("seed", range(0, KILLS, 2))
def test_after_a_kill_at_any_moment_every_acknowledged_change_is_there_once(
    garden: Garden, seed: int
) -> None:
    session, moment = ada(garden), random.Random(seed)  # noqa: S311 - it only chooses moments
    plant_all(garden)
    for name in ("first", "second"):
        heard = heard_until_killed(garden, name, moment)
        assert heard.other == []
        for path, anchor in ((PROFILE, "needs v1"), (NOTES, "s19 v1"), (THIRD, "work v1")):
            ok(session.call(*patching(path, anchor, f"after {name}")))
        assert broken_promises(garden) == []
        count, events = counted(garden, name), events_of(garden, name)
        assert all(count(*each) == 1 and events[each] == 1 for each in heard.done)
        assert all(count(*each) == events.get(each, 0) <= 1 for each in heard.asked)
        assert open_or_missing_calls(garden) == []

        for path, number in sorted(heard.asked - heard.done):
            ok(session.call(*asked(path, name, number)))
        count, events = counted(garden, name), events_of(garden, name)
        assert all(count(*each) == 1 and events[each] == 1 for each in heard.asked)
        assert broken_promises(garden) == []


def test_other_writers_settle_the_changes_of_a_killed_one(garden: Garden) -> None:
    plant_all(garden)
    names, heard = ("first", "second", "third"), [Heard(), Heard(), Heard()]
    with ExitStack() as stack:
        writers = [stack.enter_context(writing(garden, name)) for name in names]
        for writer, each in zip(writers, heard, strict=True):
            listen(writer, each, WORDS_MAX)
        for number, writer in enumerate(writers):
            kill(writer, heard[number])
            for other in range(number + 1, len(writers)):
                listen(writers[other], heard[other], WORDS_MAX)
    for path, anchor in ((PROFILE, "needs v1"), (NOTES, "s19 v1"), (THIRD, "work v1")):
        ok(ada(garden).call(*patching(path, anchor, "the last")))
    for name, each in zip(names, heard, strict=True):
        assert each.other == []
        count, events = counted(garden, name), events_of(garden, name)
        assert all(count(*done) == 1 and events[done] == 1 for done in each.done)
        assert all(count(*asked) == events.get(asked, 0) <= 1 for asked in each.asked)
    assert broken_promises(garden) == []
