"""What stands where a document or a folder belongs and is none, or is no text, or is too large."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from garden.files.plain_files import SIZE_MAX_BYTES
from garden.tools.registry import REGISTRY
from tests.files.test_file_attacks import bind
from tests.files.traversal_corpus import ADA, BEN, DOCUMENT
from tests.support.examples import NOT_OPENING
from tests.tools.attacked import NOTES, Entrance, Scene, entrances

FOLDER = DOCUMENT.rpartition("/")[0]
# These don't open the document that they name; an erasure takes away what it can't open.
ELSEWHERE = NOT_OPENING | {"fs.list", "fs.ensure_dir", "garden.erase"}
OPENING = tuple(each for each in entrances() if each.tool not in ELSEWHERE)


def hard_link_outside(scene: Scene, place: Path) -> None:
    place.hardlink_to(scene.outside / DOCUMENT)


def hard_link_to_the_keys(scene: Scene, place: Path) -> None:
    place.hardlink_to(scene.garden.home.keys_file)


def fifo(_: Scene, place: Path) -> None:
    os.mkfifo(place)


def socket(_: Scene, place: Path) -> None:
    bind(place)


def folder(_: Scene, place: Path) -> None:
    place.mkdir()


def device(_: Scene, place: Path) -> None:
    # A FIFO replaces the device on a machine that refuses to make one.
    try:
        os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except PermissionError:
        os.mkfifo(place)


def plain_file(_: Scene, place: Path) -> None:
    place.write_text("a file\n")


Put = Callable[[Scene, Path], None]
NO_DOCUMENTS: tuple[Put, ...] = (hard_link_to_the_keys, fifo, socket, folder, device)
NO_FOLDERS: tuple[Put, ...] = (plain_file, fifo, socket, device, hard_link_outside)


@contextmanager
def replaced(scene: Scene, path: str, put: Put) -> Iterator[None]:
    """Put something else in a place, and take it away again; nothing else may have changed in between."""
    place, aside = scene.home / path, scene.home.parent / "aside"
    place.rename(aside)
    put(scene, place)
    files, records, key = scene.files(), scene.records(), place.lstat()
    yield
    assert scene.files() == files
    assert scene.records() == records
    assert (place.lstat().st_ino, place.lstat().st_nlink) == (key.st_ino, key.st_nlink)
    place.rmdir() if stat.S_ISDIR(key.st_mode) else place.unlink()
    aside.rename(place)


def test_a_path_that_is_not_a_document_is_refused_by_every_tool(scene: Scene) -> None:
    for put in NO_DOCUMENTS:
        with replaced(scene, DOCUMENT, put):
            for entrance in OPENING:
                envelope = entrance.call(scene.garden, DOCUMENT)
                scene.assert_refused(envelope, (put.__name__, str(entrance)))
            found = scene.garden.session(ADA).call("fs.search", {"root": f"users/{ADA}", "pattern": "."})
            scene.told(found)
            assert {match["path"] for match in found["result"]} == {NOTES}, put.__name__
        assert scene.garden.session(ADA).call("fs.read", {"path": DOCUMENT})["ok"]


# Some mounts let no one open a device.
@pytest.mark.parametrize(
    "put", [each for each in NO_DOCUMENTS if each is not device], ids=lambda put: put.__name__
)
def test_an_erasure_takes_away_what_no_tool_can_read(scene: Scene, put: Put) -> None:
    place, outside = scene.home / DOCUMENT, scene.files(scene.outside).keys()
    place.unlink()
    put(scene, place)
    operator = scene.garden.session(ADA, "operator", role="maintainer")
    envelope = operator.call("garden.erase", {"path": DOCUMENT, "reason": "She asked for it."})
    scene.told(envelope)
    # A folder may hold files of other people.
    assert (envelope["ok"], place.exists()) == ((False, True) if put is folder else (True, False))
    assert scene.files(scene.outside).keys() == outside
    assert (scene.home / DOCUMENT.replace(ADA, BEN, 1)).exists()
    assert scene.garden.home.keys_file.exists()


def test_a_place_that_is_not_a_folder_is_entered_by_no_tool(scene: Scene) -> None:
    for put in NO_FOLDERS:
        with replaced(scene, FOLDER, put):
            for entrance in (each for each in entrances() if each.tool not in NOT_OPENING):
                for path in (DOCUMENT, FOLDER):
                    envelope = entrance.call(scene.garden, path)
                    scene.assert_refused(envelope, (put.__name__, str(entrance), path))
            listed = scene.garden.session(ADA).call("fs.list", {"path": f"users/{ADA}", "glob": "**"})
            assert listed["result"] == [NOTES, f"users/{ADA}/parts"], put.__name__


HALF = "half a surrogate pair"
NO_TEXTS = {
    "a byte that is no UTF-8": b"# Notes\n\n\xff\n",
    "a character cut short": "# Notes\n\nü".encode()[:-1],
    "overlong": b"\xc0\xaf\n",
    "a surrogate": b"\xed\xa0\x80\n",
    "UTF-16": "# Notes\n".encode("utf-16"),
    "a zero byte": b"# Notes\n\0\n",
    "a program": b"\x7fELF\x02\x01\x01\0\0\0",
    "one byte too many": b"x" * (SIZE_MAX_BYTES + 1),
    "far too many": b"x" * (SIZE_MAX_BYTES * 3),
}


def test_a_binary_or_too_large_document_is_refused_by_every_tool(scene: Scene) -> None:
    for name, content in NO_TEXTS.items():
        code = "too_large" if len(content) > SIZE_MAX_BYTES else "not_text"
        with replaced(scene, DOCUMENT, writing(content)):
            for entrance in OPENING:
                envelope = entrance.call(scene.garden, DOCUMENT)
                scene.assert_refused(envelope, (name, str(entrance)), code)
                assert len(scene.told(envelope)) < 1000, (name, str(entrance))
            found = scene.garden.session(ADA).call("fs.search", {"root": f"users/{ADA}", "pattern": "slept"})
            assert [match["path"] for match in found["result"]] == [NOTES]
            assert found["meta"]["warnings"][0].startswith(f"{DOCUMENT} was skipped")


def writing(content: bytes) -> Put:
    def put(_: Scene, place: Path) -> None:
        place.write_bytes(content)

    return put


def test_invalid_text_gets_into_no_document(scene: Scene) -> None:
    ada = scene.garden.session(ADA)
    files, records = scene.files(), scene.records()
    for words, says in (("slept\0well", "a zero byte"), ("slept \ud800 well", HALF), ("\udcff", HALF)):
        attempts = saying(scene, words)
        edits = {name for name, tool in REGISTRY.items() if tool.edits}
        # These put no words of the caller into a document, or only in the title.
        assert set(attempts) == edits - {"fs.archive", "md.fix", "md.plant", "md.repair", "md.restore"}
        for tool, args in attempts.items():
            refused = ada.call(tool, args)
            scene.assert_refused(refused, (tool, words), "not_text")
            assert refused["error"]["message"].startswith(f"The text holds {says}"), (tool, words)
            assert refused["error"]["hint"].startswith("Leave it out"), (tool, words)
            proposed = ada.call("propose_change", {"tool": tool, "args": args})
            scene.assert_refused(proposed, (tool, words), "not_text")
        planted = ada.call("md.plant", {"path": f"users/{ADA}/overview.md", "title": words})
        scene.assert_refused(planted, "md.plant", "invalid_input")
    assert scene.files() == files
    assert scene.records() == records


def saying(scene: Scene, words: str) -> dict[str, dict[str, Any]]:
    """Each tool's way to put words into a document."""
    text = (scene.home / NOTES).read_text()
    line = text[: text.index("# Notes")].count("\n") + 1
    curated = {"sectionAnchor": "concerns v1", "ops": "append", "items": [words], "reason": "so"}
    return {
        "fs.write": {"path": NOTES, "content": text + words},
        "fs.append": {"path": NOTES, "text": words},
        "fs.edit": {"path": NOTES, "find": "# Notes", "replace": f"# Notes\n{words}"},
        "fs.patch": {"path": NOTES, "diffText": f"@@ -{line},1 +{line},2 @@\n # Notes\n+{words}\n"},
        "md.patch_section": {"path": DOCUMENT, "sectionAnchor": "summary v1", "change": {"replace": words}},
        "md.curate_list": {"path": DOCUMENT, **curated},
    }


def size_after(scene: Scene, number: int) -> int:
    return (scene.home / growing(number)).stat().st_size


def growing(number: int) -> str:
    return f"users/{ADA}/parts/part-{number}/notes.md"


def written(scene: Scene, path: str, count: int) -> tuple[str, dict[str, object]]:
    text = (scene.home / path).read_text()
    return "fs.write", {"content": text + "x" * (count - 1) + "\n"}


def appended(_: Scene, __: str, count: int) -> tuple[str, dict[str, object]]:
    return "fs.append", {"text": "x" * count}


def patched(scene: Scene, path: str, count: int) -> tuple[str, dict[str, object]]:
    line = (scene.home / path).read_text().splitlines().index("# Notes") + 1
    return "fs.patch", {"diffText": f"@@ -{line},1 +{line},2 @@\n # Notes\n+{'x' * count}\n"}


def section_replaced(_: Scene, __: str, count: int) -> tuple[str, dict[str, object]]:
    return "md.patch_section", {"sectionAnchor": "inbox v1", "change": {"replace": "x" * count}}


def section_appended(_: Scene, __: str, count: int) -> tuple[str, dict[str, object]]:
    return "md.patch_section", {"sectionAnchor": "summaries v1", "change": {"append": "x" * count}}


@pytest.mark.parametrize(
    "grow", [written, appended, patched, section_replaced, section_appended], ids=lambda grow: grow.__name__
)
def test_a_document_grows_to_its_last_allowed_byte(
    scene: Scene, grow: Callable[[Scene, str, int], tuple[str, dict[str, object]]]
) -> None:
    ada = scene.garden.session(ADA)
    for number in range(2):
        ada.md.plant(growing(number))
    tool, more = grow(scene, growing(0), 1)
    assert ada.call(tool, {"path": growing(0), **more})["ok"]
    rest = SIZE_MAX_BYTES - size_after(scene, 0) + 1
    files, records = scene.files(), scene.records()
    tool, more = grow(scene, growing(1), rest + 1)
    scene.assert_refused(ada.call(tool, {"path": growing(1), **more}), tool, "too_large")
    assert scene.files() == files
    assert scene.records() == records
    tool, more = grow(scene, growing(1), rest)
    assert ada.call(tool, {"path": growing(1), **more})["ok"]
    assert size_after(scene, 1) == SIZE_MAX_BYTES
    assert ada.call("fs.read", {"path": growing(1)})["ok"]
    scene.assert_refused(ada.call("fs.append", {"path": growing(1), "text": "x"}), "more", "too_large")
    assert size_after(scene, 1) == SIZE_MAX_BYTES


def test_an_outside_edit_may_fill_a_document_and_a_longer_one_waits_for_its_owner(
    scene: Scene,
) -> None:
    ada = scene.garden.session(ADA)
    notes = scene.home / NOTES
    text = notes.read_bytes()
    full = text + b"x" * (SIZE_MAX_BYTES - len(text) - 1) + b"\n"
    notes.write_bytes(full + b"x")
    for tool, args in (("fs.append", {"text": "slept well"}), ("fs.read", {})):
        scene.assert_refused(ada.call(tool, {"path": NOTES, **args}), tool, "too_large")
    assert notes.read_bytes() == full + b"x"
    notes.write_bytes(full)
    assert ada.call("fs.hash", {"path": NOTES})["ok"]
    scene.assert_refused(ada.call("fs.append", {"path": NOTES, "text": "x"}), "full", "too_large")
    assert notes.read_bytes() == full
    notes.write_bytes(text)
    assert ada.call("fs.append", {"path": NOTES, "text": "slept well"})["ok"]


def test_a_dry_run_reveals_nothing_behind_a_hard_link_to_the_keys(scene: Scene) -> None:
    append = Entrance("fs.append", "path", {"dryRun": True})
    with replaced(scene, DOCUMENT, hard_link_to_the_keys):
        scene.assert_refused(append.call(scene.garden, DOCUMENT), str(append))
