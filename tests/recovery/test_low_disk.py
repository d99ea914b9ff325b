"""While the disk is nearly full everything can be read and nothing is written; it ends by itself."""

from typing import Any

import pytest

from garden.application import Garden
from garden.room import NoRoomError, Room
from garden.session import Session
from garden.tools.registry import REGISTRY
from tests.support.gardens import CRITIC, NOTES, file_of, ok, plant, refused
from tests.support.planted import ada
from tests.support.promises import broken_promises


class _Disk(Room):
    """A disk whose free space a test may choose."""

    free = 0

    @property
    def free_bytes(self) -> int:
        return self.free


@pytest.fixture
def disk(garden: Garden) -> _Disk:
    plant(ada(garden), NOTES, CRITIC)
    disk = _Disk(garden.home.path, 1024 * 1024)
    object.__setattr__(garden.services, "room", disk)
    return disk


@pytest.fixture
def session(garden: Garden) -> Session:
    return ada(garden)


def arguments(name: str) -> dict[str, Any]:
    return dict(REGISTRY[name].example)


@pytest.mark.usefixtures("disk")
@pytest.mark.parametrize("name", [name for name, tool in REGISTRY.items() if tool.traits.writes])
def test_no_tool_writes(session: Session, garden: Garden, name: str) -> None:
    before = file_of(garden, NOTES).read_bytes()
    events = len(ok(session, "events.query")["result"]["rows"])
    error = refused(session, name, "unavailable", **arguments(name))
    assert "1 MiB" in error["message"]
    assert "Free some space" in error["hint"]
    assert file_of(garden, NOTES).read_bytes() == before
    assert len(ok(session, "events.query")["result"]["rows"]) == events
    assert broken_promises(garden) == []


@pytest.mark.usefixtures("disk")
def test_everything_can_be_read_and_previewed(session: Session) -> None:
    ok(session, "fs.read", path=NOTES)
    ok(session, "events.query")
    ok(session, "fs.append", path=NOTES, text="more", dryRun=True)
    ok(session, "propose_change", tool="fs.append", args={"path": NOTES, "text": "more"})


def test_it_ends_by_itself(session: Session, disk: _Disk) -> None:
    refused(session, "fs.append", "unavailable", path=NOTES, text="more")
    disk.free = 1024 * 1024
    ok(session, "fs.append", path=NOTES, text="more")


def test_the_room_is_that_of_the_homes_disk(garden: Garden) -> None:
    assert Room(garden.home.path, 1).free_bytes > 1
    Room(garden.home.path, 1).check()
    with pytest.raises(NoRoomError):
        Room(garden.home.path, 2**62).check()
