"""Which files are read again, and which are not."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from garden.application import Garden
from garden.files.plain_files import FileStamp
from garden.home.settings import Upkeep
from garden.upkeep.reconciliation import adopt
from garden.upkeep.seen import AGAIN_SECONDS, SETTLED_SECONDS, Seen
from garden.upkeep.tasks import jobs, run_job
from tests.support.gardens import NOTES, edit_outside, events_of, file_of, ok, plant
from tests.support.planted import ada
from tests.support.waiting import until

OVERVIEW = "users/ada/overview.md"
LARGE = "word " * 100_000
HEAD: dict[str, Any] = {"version": 3, "raw_hash": "sha256:of-that"}
LOOK = FileStamp((1, 2), 3, written_ns=4_000_000_000, changed_ns=5_000_000_000)


@pytest.fixture
def large(garden: Garden) -> Garden:
    """Notes so large that reading them shows in the process's I/O counters."""
    plant(ada(garden), NOTES, OVERVIEW)
    ok(ada(garden), "fs.append", path=NOTES, text=LARGE)
    return garden


def adopted(garden: Garden, seen: Seen) -> list[tuple[str, str]]:
    return [(each.path, each.outcome) for each in adopt(garden.services, "ada", seen=seen)]


def is_read(garden: Garden, seen: Seen) -> bool:
    """Whether `adopt`, which finds nothing, reads the notes."""
    before = characters_read()
    assert adopted(garden, seen) == []
    return characters_read() - before > len(LARGE) // 2


def characters_read() -> int:
    counted = dict(line.split(": ") for line in Path("/proc/thread-self/io").read_text().splitlines())
    return int(counted["rchar"])


def settled(garden: Garden) -> Seen:
    """Repeat `adopt` until it no longer reads the notes."""
    seen = Seen(settled_seconds=0.1)
    assert is_read(garden, seen)
    until(lambda: not is_read(garden, seen))
    return seen


def test_a_file_that_has_not_changed_is_not_read_again(large: Garden) -> None:
    seen = settled(large)
    assert not is_read(large, seen)
    assert is_read(large, Seen())


def test_a_file_that_was_changed_lately_is_read_each_time(large: Garden) -> None:
    seen = Seen()
    assert [is_read(large, seen) for _ in range(3)] == [True] * 3


def in_place(file: Path) -> None:
    with file.open("r+") as opened:
        opened.write("---\nid: Notes")


def in_another_file(file: Path) -> None:
    fresh = file.with_suffix(".saved")
    fresh.write_text(file.read_text().replace("word", "worm", 1))
    fresh.replace(file)


@pytest.mark.parametrize("edit", [in_place, in_another_file])
def test_an_edit_that_leaves_size_and_time_as_they_were_is_found(
    large: Garden, edit: Callable[[Path], None]
) -> None:
    seen = settled(large)
    file = file_of(large, NOTES)
    before = file.stat()
    edit(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert [path for path, _ in adopted(large, seen)] == [NOTES]
    assert events_of(ada(large), NOTES)[-1] == "external_edit committed"


def test_an_outside_edit_after_a_tool_s_write_is_found(large: Garden) -> None:
    seen = settled(large)
    ok(ada(large), "fs.append", path=NOTES, text="More.")
    assert adopted(large, seen) == []
    edit_outside(large, NOTES, "More.", "Less.")
    assert adopted(large, seen) == [(NOTES, "adopted")]


def test_a_removed_or_unreadable_file_is_found(large: Garden) -> None:
    seen = settled(large)
    file_of(large, OVERVIEW).unlink()
    file_of(large, NOTES).write_bytes(b"\xff")
    assert dict(adopted(large, seen)) == {OVERVIEW: "needs a person", NOTES: "needs a person"}


def test_a_look_counts_long_after_the_last_change_and_for_a_day() -> None:
    def seen_at(read_at_seconds: float, again_seconds: float = AGAIN_SECONDS) -> Seen:
        seen = Seen(again_seconds=again_seconds)
        seen.remember(NOTES, LOOK, HEAD, int(read_at_seconds * 1e9))
        return seen

    long_over = 5 + SETTLED_SECONDS
    assert seen_at(long_over).is_in_step(NOTES, LOOK, HEAD)
    assert not seen_at(long_over - 0.001).is_in_step(NOTES, LOOK, HEAD)
    # As where the clock was set back.
    assert not seen_at(0).is_in_step(NOTES, LOOK, HEAD)
    assert not seen_at(long_over, again_seconds=0).is_in_step(NOTES, LOOK, HEAD)


@pytest.mark.parametrize(
    ("look", "head"),
    [
        (LOOK._replace(identity=(1, 3)), HEAD),
        (LOOK._replace(identity=(2, 2)), HEAD),
        (LOOK._replace(size_bytes=4), HEAD),
        (LOOK._replace(written_ns=1), HEAD),
        (LOOK._replace(changed_ns=1), HEAD),
        (LOOK, {**HEAD, "version": 4}),
        (LOOK, {**HEAD, "raw_hash": "sha256:of-another"}),
    ],
)
def test_a_look_counts_for_that_file_and_that_head_alone(look: FileStamp, head: dict[str, Any]) -> None:
    seen = Seen()
    seen.remember(NOTES, LOOK, HEAD, int(1e12))
    assert not seen.is_in_step(NOTES, look, head)
    assert not seen.is_in_step(OVERVIEW, LOOK, HEAD)


def test_each_version_that_needs_a_person_is_logged_once(garden: Garden) -> None:
    plant(ada(garden), NOTES, OVERVIEW)
    job = jobs(Upkeep())["adopt"]

    def logged_paths() -> list[str]:
        with capture_logs() as logs:
            report = run_job(job, garden.services)
        assert report["needs a person"] == 1
        return [each["path"] for each in logs if each["event"] == "document needs a person"]

    file = file_of(garden, NOTES)
    text = file.read_text()
    file.unlink()
    assert [logged_paths(), logged_paths(), logged_paths()] == [[NOTES], [], []]
    file.write_text(text)
    ok(ada(garden), "fs.append", path=NOTES, text="More.")
    text = file.read_text()
    file.unlink()
    assert [logged_paths(), logged_paths()] == [[NOTES], []]
    file.write_text(text)
    assert run_job(job, garden.services)["needs a person"] == 0
    file.unlink()
    assert [logged_paths(), logged_paths()] == [[NOTES], []]
