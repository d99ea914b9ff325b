"""On a nearly full disk, tools read but do not write; writing resumes by itself."""

from typing import Any

import pytest

from garden.application import Garden
from garden.home.disk_space import DiskFullError, DiskSpace
from garden.session import Session
from garden.tools.registry import REGISTRY
from tests.support.examples import FREE
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, edit_outside, ok, plant, refused, rows
from tests.support.planted import ada
from tests.support.promises import broken_promises

# An erasure takes no key, and a full disk must not keep words that have to go.
WRITERS = [name for name, tool in REGISTRY.items() if tool.traits.writes and name != "garden.erase"]
NEEDS_KEY = {
    "fs.move",
    "memory.store",
    "memory.forget",
    *(name for name, tool in REGISTRY.items() if tool.edits and tool.edits.needs_key),
}
RESENT = [
    *((name, {}) for name in WRITERS if name not in NEEDS_KEY),
    *((name, {"idempotencyKey": "mine"}) for name in WRITERS),
]
# Where a tool's own example would change nothing in this garden.
DIFFERENT: dict[str, dict[str, Any]] = {
    "fs.ensure_dir": {"path": "users/ada/parts/child"},
    "fs.move": {"path": NOTES, "newPath": "users/ada/parts/critic/notes.md"},
    "md.plant": {"path": OVERVIEW},
}


class _Disk:
    """A disk whose free space a test may choose."""

    free = 0


@pytest.fixture
def disk(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> _Disk:
    plant(ada(garden), NOTES, CRITIC)
    ok(ada(garden), "memory.store", content="slept well")
    ok(ada(garden), "fs.write", **FREE)
    disk = _Disk()
    monkeypatch.setattr(DiskSpace, "free_bytes", property(lambda _: disk.free))
    return disk


@pytest.fixture
def session(garden: Garden) -> Session:
    return ada(garden)


def arguments(garden: Garden, name: str) -> dict[str, Any]:
    """Arguments that make a tool write."""
    if name == "md.repair":
        edit_outside(garden, CRITIC, "<!-- @anchor: needs v1 -->\n", "")
    if name == "md.fix":
        edit_outside(garden, NOTES, "# Notes\n", "# Notes  \n")
    if name == "md.restore":
        return {"path": NOTES, "version": 1}
    if name == "md.undo":
        [stored] = [row for row in rows(ada(garden)) if row["tool"] == "memory.store"]
        return {"event": stored["eventId"]}
    if name == "memory.forget":
        [memory] = ok(ada(garden), "memory.list", kinds=["notes"])["result"]["memories"]
        return {"id": memory["id"], "rationale": "It is not so."}
    return {**REGISTRY[name].example, **DIFFERENT.get(name, {})}


def files_of(garden: Garden) -> dict[str, bytes | None]:
    """All files below users/ and history/."""
    home = garden.home.path
    found = [*home.glob("users/**/*"), *home.glob("history/**/*")]
    return {str(each): each.read_bytes() if each.is_file() else None for each in found}


def asked_for(session: Session) -> list[str]:
    """The events of requests; an outside edit is adopted all the same."""
    return [row["eventId"] for row in rows(session) if row["type"] != "external_edit"]


@pytest.mark.usefixtures("disk")
@pytest.mark.parametrize("name", WRITERS)
def test_no_tool_writes(session: Session, garden: Garden, name: str) -> None:
    args = arguments(garden, name)
    before, events = files_of(garden), asked_for(session)
    error = refused(session, name, "unavailable", **args)
    assert "MiB left" in error["message"]
    assert "Free some space" in error["hint"]
    assert files_of(garden) == before
    assert asked_for(session) == events
    assert broken_promises(garden) == []


@pytest.mark.parametrize(
    ("name", "key"), RESENT, ids=lambda value: value if isinstance(value, str) else "".join(value)
)
def test_an_earlier_request_gets_its_answer_again(
    session: Session, garden: Garden, disk: _Disk, name: str, key: dict[str, str]
) -> None:
    args = {**arguments(garden, name), **key}
    disk.free = 2**40
    first = ok(session, name, **args)
    disk.free = 0
    before = files_of(garden)
    again = ok(session, name, **args)
    assert again["result"] == first["result"]
    if key:
        assert again["meta"]["replayed"]
        assert again["meta"]["eventId"] == first["meta"]["eventId"]
    assert files_of(garden) == before


@pytest.mark.usefixtures("disk")
def test_an_edit_without_effect_is_answered(session: Session) -> None:
    assert ok(session, "md.repair", path=CRITIC)["meta"]["unchanged"]


@pytest.mark.usefixtures("disk")
def test_everything_can_be_read_and_a_preview_says_what_the_call_would(session: Session) -> None:
    ok(session, "fs.read", path=NOTES)
    ok(session, "events.query")
    args = {"path": NOTES, "text": "more"}
    refused(session, "fs.append", "unavailable", **args, dryRun=True)
    refused(session, "propose_change", "unavailable", tool="fs.append", args=args)


def test_writing_resumes_when_there_is_space(session: Session, disk: _Disk) -> None:
    refused(session, "fs.append", "unavailable", path=NOTES, text="more")
    disk.free = 2**40
    ok(session, "fs.append", path=NOTES, text="more")


def test_the_free_space_is_that_of_the_homes_disk(garden: Garden) -> None:
    assert DiskSpace(garden.home.path, 1).free_bytes > 1
    DiskSpace(garden.home.path, 1).check()
    with pytest.raises(DiskFullError):
        DiskSpace(garden.home.path, 2**62).check()
