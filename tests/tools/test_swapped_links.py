"""Folders swapped for links at any moment while tools work: nothing outside is read, made or changed."""

import itertools
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.files.traversal_corpus import ADA, DOCUMENT
from tests.support.swapper import until_begun
from tests.support.waiting import DEADLINE_SECONDS
from tests.tools.attacked import CANARY, NOTES, Scene

# `GARDEN_TEST_TOOL_SWAPS` asks for more operations.
OPERATIONS = int(os.environ.get("GARDEN_TEST_TOOL_SWAPS", "300"))
HISTORY = f"history/{ADA}/parts/critic/profile"
SWAPPED = [
    *("users", f"users/{ADA}", f"users/{ADA}/parts", f"users/{ADA}/parts/critic", DOCUMENT, NOTES),
    *("history", f"history/{ADA}", HISTORY),
]
REPOSITORY = Path(__file__).parents[2]
# What a link, or nothing at all, in the place of a folder or a document may be answered with.
ANSWERS = {
    *("done", "path_not_allowed", "not_found", "document_damaged", "precondition_failed"),
    *("already_exists", "in_progress", "unavailable"),
}


def calls(number: int) -> list[tuple[str, dict[str, Any]]]:
    """The calls that are drawn from; each is for the garden's own documents, and right."""
    return [
        *[("fs.read", {"path": path}) for path in (DOCUMENT, NOTES)] * 3,
        *[("fs.search", {"root": f"{root}/{ADA}", "pattern": "."}) for root in ("users", "history")] * 2,
        *[("fs.list", {"path": f"{root}/{ADA}", "glob": "**"}) for root in ("users", "history")] * 2,
        ("fs.hash", {"path": DOCUMENT}),
        ("md.lint", {"path": NOTES}),
        ("fs.append", {"path": NOTES, "text": f"entry {number}"}),
        (
            "md.patch_section",
            {"path": DOCUMENT, "sectionAnchor": "summary v1", "change": {"replace": f"words {number}"}},
        ),
        ("md.snapshot_history", {"path": DOCUMENT}),
        ("fs.ensure_dir", {"path": f"users/{ADA}/parts/made-{number}"}),
        ("md.plant", {"path": f"users/{ADA}/parts/made-{number}/notes.md"}),
    ]


@contextmanager
def swapping(scene: Scene, *paths: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.swapper", str(scene.home), str(scene.outside), *paths],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as swapper:
        until_begun(swapper.stdout)
        yield swapper


def attacked(scene: Scene, operations: int) -> Counter[tuple[str, str]]:
    """Call so many times, and go on until links were met and tools had room to work."""
    ada = scene.garden.session(ADA, "companion")
    chance = random.Random(7)  # noqa: S311
    outcomes: Counter[tuple[str, str]] = Counter()
    deadline = time.monotonic() + DEADLINE_SECONDS
    for number in itertools.count():
        met = min(answered(outcomes, each) for each in ("path_not_allowed", "done"))
        if number >= operations and (met > 3 or time.monotonic() > deadline):
            break
        tool, args = chance.choice(calls(number))
        envelope = ada.call(tool, args)
        scene.told(envelope)
        outcome = "done" if envelope["ok"] else envelope["error"]["code"]
        assert outcome in ANSWERS, (tool, envelope)
        outcomes[tool, outcome] += 1
    return outcomes


def answered(outcomes: Counter[tuple[str, str]], wanted: str) -> int:
    return sum(count for (_, outcome), count in outcomes.items() if outcome == wanted)


def test_no_tool_is_led_outside_by_links_that_come_and_go(scene: Scene) -> None:
    for folder in (HISTORY, f"users/{ADA}/parts/stranger"):
        (scene.outside / folder).mkdir(parents=True)
    before = scene.files(scene.outside)
    with swapping(scene, *SWAPPED) as swapper:
        outcomes = attacked(scene, OPERATIONS)
        swapper.communicate()
    assert scene.files(scene.outside) == before
    assert CANARY not in "".join(
        path.read_text() for root in ("users", "history") for path in (scene.home / root / ADA).rglob("*.md")
    )
    # Both sides were there.
    assert answered(outcomes, "path_not_allowed"), outcomes
    assert answered(outcomes, "done"), outcomes


def test_the_next_write_settles_what_swapped_links_interrupted(scene: Scene) -> None:
    with swapping(scene, *SWAPPED[:6]) as swapper:
        attacked(scene, OPERATIONS // 3)
        swapper.communicate()
    ada = scene.garden.session(ADA, "companion")
    assert ada.call("fs.append", {"path": NOTES, "text": "at peace again"})["ok"]
    change = {"path": DOCUMENT, "sectionAnchor": "summary v1", "change": {"replace": "at peace again"}}
    assert ada.call("md.patch_section", change)["ok"]
    rows = ada.events.query(limit=500).result.rows
    assert {row.status for row in rows} <= {"committed", "failed"}
    scene.told(ada.call("events.query", {"limit": 500}))
    for path in (NOTES, DOCUMENT):
        newest = next(row for row in rows if row.path == path and row.after_hash)
        assert newest.after_hash == ada.fs.hash(path).result
