"""Every field of every tool that takes a path, against every path that no garden holds and every link."""

from pathlib import Path

import pytest

from garden.tools.registry import REGISTRY
from tests.files.traversal_corpus import ADA, ATTACKS, BEN, DOCUMENT, OTHER_USERS, PLANTS, Attack, Plant
from tests.support.examples import DOCUMENT_READERS, NOT_OPENING
from tests.tools.attacked import CANARY, NOTES, PATHS, Entrance, Scene, entrances, session_for, words_of

ENTRANCES = tuple(entrances())
FOLDER = DOCUMENT.rpartition("/")[0]
LINKED_FOLDERS = range(4)


def test_a_field_that_is_not_named_as_a_path_leads_to_no_file(scene: Scene) -> None:
    before = scene.files()
    for name, tool in REGISTRY.items():
        fields = tool.request_schema.get("properties", {})
        for field in sorted(words_of(tool) & set(fields) - PATHS):
            for path in (f"users/{BEN}/notes.md", f"../outside/{NOTES}", f"../../outside/{DOCUMENT}"):
                args = {**tool.example, field: path, **({"dryRun": True} if "dryRun" in fields else {})}
                scene.told(session_for(scene.garden, tool).call(name, args))
    assert scene.files() == before


def test_every_edit_is_attacked_through_a_proposal_as_well() -> None:
    assert {"path", "newPath", "root", "filePath"} <= PATHS
    edits = {name for name, tool in REGISTRY.items() if tool.edits}
    assert {entrance.tool for entrance in ENTRANCES if entrance.within == "propose_change"} == edits


@pytest.mark.parametrize("family", sorted({tool.partition(".")[0] for tool in REGISTRY} - {"tools"}))
def test_a_path_that_no_garden_holds_is_refused_and_changes_nothing(scene: Scene, family: str) -> None:
    files, records = scene.files(), scene.records()
    for entrance in [each for each in ENTRANCES if (each.within or each.tool).startswith(family)]:
        for attack in (*ATTACKS, *OTHER_USERS):
            envelope = entrance.call(scene.garden, attack.path)
            scene.assert_refused(envelope, (str(entrance), attack.name))
            assert_not_repeated(scene.told(envelope), attack)
        assert scene.files() == files, str(entrance)
        assert scene.records() == records, str(entrance)


def assert_not_repeated(told: str, attack: Attack) -> None:
    """A message may be shown anywhere, and some of these paths are made for the terminal that shows it."""
    without_hint = told.replace("Did you mean users/ada/notes.md?", "")
    assert len(attack.path) < 10 or attack.path not in without_hint, attack.name
    assert len(told) < 2000, attack.name


@pytest.mark.parametrize("root", ["users", "history"])
def test_a_path_of_the_wrong_place_is_refused_by_each_tool_that_can_do_nothing_with_it(
    scene: Scene, root: str
) -> None:
    files, records = scene.files(), scene.records()
    copy = scene.garden.session(ADA).fs.list(f"history/{DOCUMENT.removeprefix('users/')[:-3]}").result[0]
    wrong = {
        "users": [f"users/{ADA}", f"users/{ADA}/parts", FOLDER],
        "history": [f"history/{ADA}", copy, copy.rpartition("/")[0]],
    }[root]
    for entrance in ENTRANCES:
        for path in wrong:
            if entrance.tool in LOOSE_READERS or _fits(entrance, path):
                continue
            scene.assert_refused(entrance.call(scene.garden, path), (str(entrance), path))
    assert scene.files() == files
    assert scene.records() == records


def _fits(entrance: Entrance, path: str) -> bool:
    if entrance.tool == "fs.ensure_dir":
        return path.startswith("users/")
    return not REGISTRY[entrance.tool].edits and path.endswith(".md") and entrance.tool in READERS


READERS = {*DOCUMENT_READERS, "events.log"} - {"history.show"}
LOOSE_READERS = {name for name, tool in REGISTRY.items() if not tool.traits.writes} - READERS


@pytest.mark.parametrize("component", range(5), ids=("users", "user", "parts", "part", "document"))
def test_no_planted_link_is_followed_by_any_tool(scene: Scene, component: int) -> None:
    for plant in PLANTS:
        if plant.component == component:
            link = planted(scene, plant)
            refuse_it(scene, plant, link)
            taken_away(link)


def taken_away(link: Path) -> None:
    link.unlink()
    Path(f"{link}-aside").rename(link)


def planted(scene: Scene, plant: Plant) -> Path:
    link = scene.home.joinpath(*DOCUMENT.split("/")[: plant.component + 1])
    link.rename(f"{link}-aside")
    link.symlink_to(plant.target_in(scene.home))
    return link


def refuse_it(scene: Scene, plant: Plant, link: Path) -> None:
    files, records = scene.files(), scene.records()
    for entrance in ENTRANCES:
        # An erasure takes a link away from a document's place, and leaves what it leads to.
        if entrance.tool == "garden.erase" and plant.component not in LINKED_FOLDERS:
            continue
        for path in (DOCUMENT, FOLDER):
            where = (plant.name, str(entrance), path)
            envelope = entrance.call(scene.garden, path)
            scene.told(envelope)
            opens = entrance.tool not in NOT_OPENING
            if opens and (path == DOCUMENT or plant.component in LINKED_FOLDERS):
                scene.assert_refused(envelope, where)
    assert scene.files() == files, plant.name
    assert link.is_symlink()
    assert scene.records() == records


@pytest.mark.parametrize("component", [2, 3, 4], ids=("parts", "part", "document"))
def test_files_behind_a_link_are_neither_listed_nor_found(scene: Scene, component: int) -> None:
    for plant in PLANTS:
        if plant.component == component:
            link = planted(scene, plant)
            search_around(scene, plant, link)
            taken_away(link)


def search_around(scene: Scene, plant: Plant, link: Path) -> None:
    ada = scene.garden.session(ADA, "companion")
    behind = f"{link.relative_to(scene.home)}/"
    for args in ({"path": f"users/{ADA}", "glob": "**"}, {"path": f"users/{ADA}"}):
        listed = ada.call("fs.list", args)
        assert behind[:-1] not in listed["result"], plant.name
    found = ada.call("fs.search", {"root": f"users/{ADA}", "pattern": f"{CANARY}|Part|slept"})
    scene.told(found)
    assert NOTES in {match["path"] for match in found["result"]}, plant.name
    assert not [match for match in found["result"] if f"{match['path']}/".startswith(behind)], plant.name
    assert not found["meta"]["warnings"], plant.name


def test_the_other_garden_is_there_all_the_time(scene: Scene) -> None:
    ben = scene.garden.session(BEN, "companion")
    assert CANARY in str(ben.fs.read(NOTES.replace(ADA, BEN, 1)).result)
