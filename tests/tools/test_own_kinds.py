"""Kinds of an operator with paths of their own: declared, used, and taken out of the home again."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from garden.application import Garden, open_garden
from garden.home.folder import Home
from garden.session import Session
from garden.upkeep.reconciliation import reconcile
from garden.upkeep.status import State, status_of_user
from tests.support.gardens import events_of, ok, out_of_step, refused, result, rows

DAY, TRIP = "users/ada/journal/2026-11-18.md", "users/ada/journal/travel/rome.md"
JOURNAL = """kind = "journal"
summary = "Days."
title = "A day"
schema = 1
identity = []
paths = ["journal/{date}.md", "journal/travel/{place}.md"]

[[sections]]
heading = "Entries"
anchor = "entries v1"
shape = "log"
entries = true

[[sections]]
heading = "Change Log"
anchor = "change_log v1"
shape = "log"
role = "change_log"
"""
Reopen = Callable[[str | None], Garden]


@pytest.fixture
def reopen(home: Home, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reopen]:
    """Opens the garden with a declaration of the journal, or without."""
    monkeypatch.setenv("GARDEN_DATABASE_URL", database)
    with ExitStack() as stack:

        def opened(text: str | None) -> Garden:
            file = home.path / "kinds" / "journal.toml"
            file.parent.mkdir(exist_ok=True)
            file.write_text(text) if text else file.unlink(missing_ok=True)
            return stack.enter_context(open_garden(home.path))

        yield opened


@pytest.fixture
def ada(reopen: Reopen) -> Session:
    return reopen(JOURNAL).session("ada", "companion")


def test_a_declared_document_is_planted_and_takes_entries_and_a_change_log(ada: Session, home: Home) -> None:
    ok(ada, "md.plant", path=DAY)
    ok(ada, "fs.append", path=DAY, text="Walked by the river.")
    text = (home.path / DAY).read_text()
    assert (
        text.index("## Entries") < text.index("Walked by") < text.index("## Change Log") < text.index("evt:")
    )
    for write in (
        {"content": "All gone.\n"},
        {"content": text.replace("## Change Log\n<!-- @anchor: change_log v1 -->", "## Log")},
    ):
        refused(ada, "fs.write", "permission_denied", path=DAY, **write)
    ok(ada, "fs.write", path=TRIP, content="No sections here.\n")
    ok(ada, "fs.archive", path=DAY)
    assert result(ada, "fs.list", path="users/ada", glob="**/*.md") == [TRIP]
    assert [each["type"] for each in rows(ada, path=DAY)] == ["journal_update"] * 3


@pytest.mark.parametrize(
    "below",
    ["2026-13-01.md", "2026-11-32.md", "today.md", "home/rome.md", "travel/2026/rome.md", "travel.md"],
)
def test_a_path_that_fits_no_pattern_is_refused_with_the_patterns(
    ada: Session, home: Home, below: str
) -> None:
    error = refused(ada, "fs.write", "path_not_allowed", path=f"users/ada/journal/{below}", content="x")
    assert "users/ada/journal/{date}.md, users/ada/journal/travel/{place}.md. " in error["hint"]
    refused(ada, "fs.ensure_dir", "path_not_allowed", path="users/ada/journal/home")
    assert not (home.path / "users/ada/journal").exists()


def test_a_persons_folder_becomes_part_of_the_garden_when_its_kind_is_declared(
    reopen: Reopen, home: Home
) -> None:
    before = reopen(None)
    for path in (DAY, "users/ada/journal/to do.md"):
        (home.path / path).parent.mkdir(parents=True, exist_ok=True)
        (home.path / path).write_text("Slept well.\n")
    assert not [*reconcile(before.services, ["ada"]), *status_of_user(before.services, "ada")]
    assert result(before.session("ada"), "fs.list", path="users/ada") == []
    after = reopen(JOURNAL)
    assert [(each.path, each.state) for each in status_of_user(after.services, "ada")] == [(DAY, State.NEW)]
    ok(after.session("ada", "companion"), "fs.append", path=DAY, text="Woke early.")
    assert events_of(after.session("ada"), DAY) == ["external_edit committed", "append_file committed"]


def test_documents_of_a_kind_that_was_taken_out_are_left_alone_and_can_be_erased(
    ada: Session, reopen: Reopen, home: Home
) -> None:
    ok(ada, "fs.write", path=DAY, content="A secret plan for the summer.\n")
    ok(ada, "fs.write", path=DAY, content="A secret plan for the autumn.\n")
    ok(ada, "fs.write", path=TRIP, content="Walked by the river.\n")
    ok(ada, "fs.archive", path=TRIP)
    garden = reopen(None)
    without = garden.session("ada", "keeper", role="maintainer")
    status, _ = status_of_user(garden.services, "ada")
    assert (status.path, status.state) == (DAY, State.UNREADABLE)
    assert "No kind of this home declares its path" in status.message
    for tool, args in (("fs.read", {}), ("fs.append", {"text": "x"}), ("md.restore", {"version": 1})):
        refused(without, tool, "path_not_allowed", path=DAY, **args)
    for event in rows(without)[::2]:
        refused(without, "md.undo", "path_not_allowed", event=event["eventId"])
    assert [each["path"] for each in rows(without)] == [TRIP, TRIP, DAY, DAY]
    assert not [*garden.lookups.listing(without.access), *out_of_step(garden)]
    ok(without, "garden.erase", text="plan for the summer", reason="She asked.")
    ok(without, "garden.erase", text="plan for the autumn", reason="She asked.")
    assert (home.path / DAY).read_text().split() == ["A", "secret", "."]
    ok(without, "garden.erase", everything=True, reason="She asked.")
    assert not any(b"secret" in each.read_bytes() for each in home.path.glob("[uh]*/**/*") if each.is_file())
