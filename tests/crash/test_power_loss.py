"""Power failures: a sample of what `python -m tests.crash.power` tries.

Each test records the effects of a write, builds what a disk may hold after a power failure in between, and
has the service settle it.
"""

from collections.abc import Iterator

import pytest

from garden.application import Garden
from garden.home.folder import ensure_home
from tests.crash.power.disk import Form, Image, choices, image_of
from tests.crash.power.effects import Effect, What
from tests.crash.power.harness import First, Harness, Scenario
from tests.crash.power.missing_syncs import places, proof
from tests.crash.power.operations import OPERATIONS
from tests.crash.power.processes import Processes, processes_in
from tests.crash.sampling import FULL, sample
from tests.support.databases import TestServer
from tests.support.folders import fresh_folder, run_folder
from tests.support.planted import opened, put_database

Ground = tuple[Garden, Processes]


@pytest.fixture(scope="module")
def ground(server: TestServer) -> Iterator[Ground]:
    """One garden for all tests, since every state has its own user, and one process that forks the others."""
    with fresh_folder(run_folder()) as folder, server.database(server.template()) as url:
        home = ensure_home(folder / "home")
        put_database(home, url)
        with opened(home) as garden, processes_in(home.path) as processes:
            yield garden, processes


@pytest.mark.parametrize("name", sample(list(OPERATIONS), 8))
def test_acknowledged_changes_survive_a_power_failure_and_others_can_be_sent_again(
    ground: Ground, name: str
) -> None:
    tried = Harness(*ground).tried(Scenario(OPERATIONS[name]), every=5, all_recoveries=False)
    assert tried.broken == []
    assert tried.states > 1


@pytest.mark.parametrize("name", ["plant", "first copy"])
def test_a_folder_left_unsynced_by_a_killed_writer_is_synced_by_the_next(ground: Ground, name: str) -> None:
    """Everything synced inside a folder is lost with the folder's name."""
    harness = Harness(*ground)
    whole = harness.recorded(Scenario(OPERATIONS[name])).effects
    made = next(index for index, effect in enumerate(whole) if effect.what is What.MAKE_FOLDER)
    scenario = Scenario(OPERATIONS[name], First(made + 1), "the same")
    assert harness.tried(scenario, every=6, all_recoveries=False).broken == []


@pytest.mark.parametrize("name", ["move without rename_new", "patch without links"])
def test_a_write_killed_where_the_file_system_lacks_a_call_happened_wholly_or_not_at_all(
    ground: Ground, name: str
) -> None:
    """Without the call a move takes two steps, and keeping a version takes two files."""
    harness = Harness(*ground)
    whole = harness.recorded(Scenario(OPERATIONS[name])).effects
    begun = [index for index, effect in enumerate(whole) if effect.name == "add_event"][-1]
    changed = next(
        index for index in range(begun, len(whole)) if whole[index].what in {What.LINK, What.RENAME}
    )
    scenario = Scenario(OPERATIONS[name], First(changed + 1), "reconcile")
    assert harness.tried(scenario, every=4, all_recoveries=False).broken == []


@pytest.mark.parametrize("cut_off", ["link", "exchange"])
def test_a_recovery_interrupted_by_a_power_failure_is_finished_by_the_next(
    ground: Ground, cut_off: str
) -> None:
    harness = Harness(*ground)
    whole = harness.recorded(Scenario(OPERATIONS["patch"])).effects
    step = next(index for index, effect in enumerate(whole) if effect.what.value == cut_off) + 1
    # The disk kept the exchange and lost the link.
    link = next(index for index, effect in enumerate(whole) if effect.what is What.LINK)
    for first in (First(step), First(step, ((link, Form.GONE),))):
        scenario = Scenario(OPERATIONS["patch"], first, "reconcile")
        assert harness.tried(scenario, every=5 if FULL else 12, all_recoveries=False).broken == []


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("PreparedFile._sync_names: sync(self.folder, replaced=True)", "append"),
        ("PreparedFile.sync_content: sync(self.fresh.handle, replaced=False)", "append"),
        ("PreparedFile._sync_names: sync(self.history, replaced=True)", "patch"),
    ],
)
def test_removing_an_fsync_is_detected(ground: Ground, place: str, name: str) -> None:
    assert place in places()
    assert proof(*ground, place, [Scenario(OPERATIONS[name])]).found


# What a disk is assumed to promise

FOLDERS = Image({"users": {}, "history": {}, "one": {"old": "file"}, "two": {}}, {"file": b"text"})


def found(*effects: Effect) -> list[tuple[dict[str, str], dict[str, str], dict[str, bytes]]]:
    images = [image_of(FOLDERS, effects, choice) for choice in choices(effects)]
    return [(image.folders["one"], image.folders["two"], image.files) for image in images]


def test_a_name_is_durable_once_its_folder_is_synced() -> None:
    link = Effect(What.LINK, "file", "two", "new")
    assert [two for _, two, _ in found(link)] == [{"new": "file"}, {}]
    assert [two for _, two, _ in found(link, Effect(What.SYNC, "file"))] == [{"new": "file"}, {}]
    assert [two for _, two, _ in found(link, Effect(What.SYNC, "two"))] == [{"new": "file"}]


def test_content_is_durable_once_its_file_is_synced() -> None:
    create, write = Effect(What.CREATE, "new", "two", "new"), Effect(What.WRITE, "new", data=b"whole text")
    named = Effect(What.SYNC, "two")
    contents = {files["new"] for _, _, files in found(create, write, named)}
    assert contents == {b"whole text", b"", b"whole", bytes(10), b"garbage\xff??"}
    assert [files["new"] for _, _, files in found(create, write, named, Effect(What.SYNC, "new"))] == [
        b"whole text"
    ]


def test_an_exchange_of_two_names_is_atomic() -> None:
    create = Effect(What.CREATE, "fresh", "one", "new")
    exchange = Effect(What.EXCHANGE, "fresh", "one", "old", "one", "new", other="file")
    synced = Effect(What.SYNC, "one")
    whole, before = {"old": "fresh", "new": "file"}, {"old": "file", "new": "fresh"}
    assert [one for one, _, _ in found(create, synced, exchange)] == [whole, before]
    assert [one for one, _, _ in found(create, exchange, synced)] == [whole]


def test_an_unsynced_rename_between_folders_may_keep_both_names() -> None:
    rename = Effect(What.RENAME, "file", "two", "new", "one", "old")
    old, new, nothing = {"old": "file"}, {"new": "file"}, dict[str, str]()
    whole, gone, both, neither = (nothing, new), (old, nothing), (old, new), (nothing, nothing)
    one, two = Effect(What.SYNC, "one"), Effect(What.SYNC, "two")
    for effects, expected in (
        ([rename], [whole, gone, both]),
        ([rename, two], [whole, both]),
        ([rename, one], [whole, neither]),
        ([rename, two, one], [whole]),
    ):
        assert [(first, second) for first, second, _ in found(*effects)] == expected


def test_unsynced_effects_survive_in_any_combination() -> None:
    links = [Effect(What.LINK, "file", "two", name) for name in "abc"]
    assert {frozenset(two) for _, two, _ in found(*links)} == {
        frozenset(name for index, name in enumerate("abc") if bits >> index & 1) for bits in range(8)
    }
