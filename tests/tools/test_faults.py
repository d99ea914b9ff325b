"""Disks that are full, failing or closed, and files that change in the middle of a call: real errors."""

import errno
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from garden.events.stream import LockedStream
from garden.files.garden_files import GardenFiles
from garden.files.plain_files import SIZE_MAX_BYTES
from garden.gateway.dispatcher import Envelope
from garden.tools.registry import REGISTRY
from tests.files.traversal_corpus import ADA, DOCUMENT
from tests.support.confined import Refusal, give_to_nobody
from tests.support.confined_tool import confined_call
from tests.support.examples import DOCUMENT_READERS
from tests.tools.attacked import NOTES, Scene

NEW = f"users/{ADA}/parts/critic/notes.md"
HISTORY = f"history/{ADA}/parts/critic/profile"
Args = dict[str, Any]
PATCH: tuple[str, Args] = (
    "md.patch_section",
    {"path": DOCUMENT, "sectionAnchor": "summary v1", "change": {"append": "She rests."}},
)
APPEND: tuple[str, Args] = ("fs.append", {"path": NOTES, "text": "slept well"})
PLANT: tuple[str, Args] = ("md.plant", {"path": NEW})
MOVE: tuple[str, Args] = ("fs.move", {"path": NOTES, "newPath": NEW})
SNAPSHOT: tuple[str, Args] = ("md.snapshot_history", {"path": NOTES})
FOLDER: tuple[str, Args] = ("fs.ensure_dir", {"path": f"users/{ADA}/parts/guardian"})
READ: tuple[str, Args] = ("fs.read", {"path": NOTES})
# Everything that a garden keeps open between calls is open after these.
BEFORE = [
    ("fs.append", {"path": f"users/{ADA}/notes.md", "text": "good morning"}),
    ("md.snapshot_history", {"path": DOCUMENT}),
    ("events.query", {}),
]
UNRECORDED = {"md.snapshot_history", "fs.ensure_dir", "fs.read"}


def statuses(scene: Scene, path: str) -> list[tuple[str, str | None]]:
    """The events of a document, newest first: their states, and why they failed."""
    rows = scene.garden.session(ADA).events.query(path=path).result.rows
    return [(row.status, (row.error or {}).get("code")) for row in rows if row.document_version]


def everything(scene: Scene) -> dict[str, tuple[str, bytes, int]]:
    """All files, but for folders that a call may make and leave empty."""
    return {path: state for path, state in scene.files(scene.home).items() if state[0] != "folder"}


def assert_next_write_works(scene: Scene, tool: str, args: Args) -> None:
    keeper = scene.garden.session(ADA, "companion", role="maintainer")
    assert keeper.call(tool, args)["ok"], tool
    for path in scene.home.rglob("*"):
        assert ".new-" not in path.name
    assert not any(status in ("pending", "written") for status, _ in statuses(scene, NOTES))


def assert_nothing_came_of_it(
    scene: Scene, call: tuple[str, Args], envelope: Envelope, code: str, before: dict[str, Any]
) -> None:
    """Expect the code, the files as they were, and a saga that failed if one was begun."""
    tool, args = call
    scene.assert_refused(envelope, call, code)
    assert everything(scene) == before, call
    if tool not in UNRECORDED:
        assert statuses(scene, args["path"])[:1] in ([("failed", code)], [("committed", None)], []), call
    if "newPath" in args:
        assert statuses(scene, args["newPath"])[0] == ("failed", code)


# A disk that is full: the limit on the size of files is a disk that ends there.


@contextmanager
def disk_that_ends_at(size_bytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    assert signal.getsignal(signal.SIGXFSZ) is signal.SIG_IGN
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def full_disk_calls(scene: Scene) -> dict[str, Args]:
    text = (scene.home / NOTES).read_text()
    line = text.splitlines().index("# Notes") + 1
    curated = {
        "path": DOCUMENT,
        "sectionAnchor": "concerns v1",
        "ops": "append",
        "items": ["x"],
        "reason": "so",
    }
    return {
        "fs.write": {"path": NOTES, "content": text + "\nslept well\n"},
        "fs.patch": {"path": NOTES, "diffText": f"@@ -{line},1 +{line},1 @@\n-# Notes\n+# My Notes\n"},
        "fs.edit": {"path": NOTES, "find": "# Notes", "replace": "# My Notes"},
        "md.curate_list": {"path": DOCUMENT, **curated},
        "md.restore": {"path": NOTES, "version": 1},
        **dict([PATCH, APPEND, PLANT, SNAPSHOT]),
    }


def test_on_a_full_disk_no_tool_writes_and_each_says_so(scene: Scene) -> None:
    keeper = scene.garden.session(ADA, "companion", role="maintainer")
    calls = full_disk_calls(scene)
    # A move and a folder take no room that this disk counts; nothing here is damaged, out of form or erased.
    writing = {name for name, tool in REGISTRY.items() if tool.traits.writes}
    # A memory is stored and forgotten, and an event undone, by the edits that others make.
    left_out = {"fs.move", "fs.ensure_dir", "events.log", "md.fix", "md.repair", "garden.erase"}
    # What is archived needs no room on the disk.
    left_out |= {"fs.archive", "memory.store", "memory.forget", "md.undo"}
    assert set(calls) == writing - left_out
    before = everything(scene)
    for call in calls.items():
        with disk_that_ends_at(20):
            envelope = keeper.call(*call)
        assert_nothing_came_of_it(scene, call, envelope, "unavailable", before)
        assert "File too large" in envelope["error"]["message"]
        assert "Free some disk space" in envelope["error"]["hint"]
    for tool, args in calls.items():
        if tool != "fs.patch":
            assert_next_write_works(scene, tool, args)


def test_on_a_full_disk_everything_can_be_read(scene: Scene) -> None:
    with disk_that_ends_at(20):
        for tool in (*DOCUMENT_READERS, "events.query"):
            args = {**REGISTRY[tool].example, "path": DOCUMENT}
            assert scene.garden.session(ADA).call(tool, args)["ok"], tool


# System calls that fail. The numbers count the handles that a call opens: the document's folder, the
# document, the history's folder where a copy is kept, and the new file.


@pytest.mark.parametrize(
    ("call", "refusal", "says"),
    [
        (PATCH, Refusal("write", errno.ENOSPC, 3), "No space left on device"),
        (APPEND, Refusal("write", errno.EDQUOT, 2), "quota exceeded"),
        (PATCH, Refusal("fsync", errno.EIO, 3), "did not confirm"),
        (PATCH, Refusal("linkat", errno.EIO), "Input/output error"),
        (PATCH, Refusal("renameat2", errno.EROFS), "Read-only file system"),
        (PLANT, Refusal("write", errno.ENOSPC, 1), "No space left on device"),
        (PLANT, Refusal("renameat2", errno.EROFS), "Read-only file system"),
        (MOVE, Refusal("renameat2", errno.EIO), "Input/output error"),
        (SNAPSHOT, Refusal("write", errno.ENOSPC, 1), "No space left on device"),
        (FOLDER, Refusal("mkdirat", errno.EROFS), "Read-only file system"),
        (READ, Refusal("pread64", errno.EIO), "Input/output error"),
        (READ, Refusal("openat2", errno.EACCES), "Permission denied"),
    ],
    ids=lambda value: (
        f"{value.call} {errno.errorcode[value.error]}" if isinstance(value, Refusal) else str(value[0])
    ),
)
def test_a_failed_system_call_is_reported_and_has_no_effect(
    scene: Scene, call: tuple[str, Args], refusal: Refusal, says: str
) -> None:
    keeper = scene.garden.session(ADA, "companion", role="maintainer")
    for tool, args in BEFORE:
        keeper.call(tool, args)
    before = everything(scene)
    envelope = confined_call(scene.home, *call, before=BEFORE, refusals=[refusal])
    assert_nothing_came_of_it(scene, call, envelope, "unavailable", before)
    assert says in envelope["error"]["message"]
    assert_next_write_works(scene, *call)


def test_a_copy_that_can_not_be_taken_out_of_the_history_goes_when_the_document_is_next_opened(
    scene: Scene,
) -> None:
    keeper = scene.garden.session(ADA, "companion", role="maintainer")
    for tool, args in BEFORE:
        keeper.call(tool, args)
    refusals = [Refusal(call, errno.EIO) for call in ("renameat", "renameat2", "unlinkat")]
    envelope = confined_call(scene.home, *PATCH, before=BEFORE, refusals=refusals)
    scene.assert_refused(envelope, PATCH, "unavailable")
    assert "a copy is left" in envelope["error"]["message"]
    assert (scene.home / DOCUMENT).stat().st_nlink == 2
    keeper.call("fs.append", {"path": DOCUMENT, "text": "x", "ifMatch": "none"})
    assert statuses(scene, DOCUMENT)[0] == ("failed", "stalled_before_write")
    assert (scene.home / DOCUMENT).stat().st_nlink == 1
    assert_next_write_works(scene, *PATCH)


@pytest.mark.parametrize(("call", "handles"), [(MOVE, (0, 1, 2)), (PATCH, (0, 1, 2))])
def test_a_handle_that_closes_with_an_error_takes_nothing_back_that_was_done(
    scene: Scene, call: tuple[str, Args], handles: tuple[int, ...]
) -> None:
    refusals = [Refusal("close", errno.EIO, handle) for handle in handles]
    envelope = confined_call(scene.home, *call, before=BEFORE, refusals=refusals)
    assert envelope["ok"], envelope
    assert statuses(scene, call[1]["path"])[0] == ("committed", None)


def test_an_old_version_that_can_not_be_taken_away_does_not_undo_the_change_that_stands(scene: Scene) -> None:
    refusals = [Refusal("unlinkat", errno.EIO)]
    envelope = confined_call(scene.home, *PATCH, before=BEFORE, refusals=refusals)
    assert envelope["ok"], envelope
    assert statuses(scene, DOCUMENT)[0] == ("committed", None)
    assert_next_write_works(
        scene,
        "md.patch_section",
        {"path": DOCUMENT, "sectionAnchor": "needs", "change": {"append": "- and on"}},
    )


def test_a_failed_wait_for_the_database_is_unavailable(scene: Scene) -> None:
    refusals = [Refusal("poll", errno.ENOMEM)]
    envelope = confined_call(scene.home, *APPEND, before=BEFORE, refusals=refusals)
    scene.assert_refused(envelope, APPEND, "unavailable")
    assert_next_write_works(scene, *APPEND)


@pytest.mark.parametrize(
    ("call", "closed", "mode"),
    [
        *((PATCH, DOCUMENT, 0), (PATCH, f"users/{ADA}/parts/critic", 0o500), (PATCH, HISTORY, 0o500)),
        *((APPEND, NOTES, 0), (APPEND, f"users/{ADA}", 0), (READ, NOTES, 0), (READ, "users", 0)),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else str(value),
)
def test_a_permission_error_is_reported_and_has_no_effect(
    scene: Scene, call: tuple[str, Args], closed: str, mode: int
) -> None:
    keeper = scene.garden.session(ADA, "companion", role="maintainer")
    for tool, args in BEFORE:
        keeper.call(tool, args)
    before = everything(scene)
    give_to_nobody(scene.home)
    place = scene.home / closed
    open_mode = place.stat().st_mode
    envelope = confined_call(scene.home, *call, before=BEFORE, closed={place: mode})
    place.chmod(open_mode)
    scene.assert_refused(envelope, call, "unavailable")
    assert "Permission denied" in envelope["error"]["message"]
    assert "Let the account" in envelope["error"]["hint"]
    assert everything(scene) == before
    assert_next_write_works(scene, *call)


# Files that change after they were read, and before they are replaced.


def meddling(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, change: Callable[[], object]) -> None:
    """Let something happen once, just after this step."""
    step = getattr(owner, name)

    def meddled(*args: Any, **named: Any) -> Any:
        done = step(*args, **named)
        monkeypatch.setattr(owner, name, step)
        change()
        return done

    monkeypatch.setattr(owner, name, meddled)


def vanishing(path: Path) -> None:
    path.rename(path.parent / "elsewhere")


def growing(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x" * SIZE_MAX_BYTES)


def growing_a_little(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"and more\n")


def truncated(path: Path) -> None:
    os.truncate(path, 10)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def made_a_link(path: Path) -> None:
    path.rename(path.parent / "elsewhere")
    path.symlink_to(path.parent / "elsewhere")


def made_a_folder(path: Path) -> None:
    path.rename(path.parent / "elsewhere")
    path.mkdir()


def written_anew(path: Path) -> None:
    text = path.read_bytes()
    path.unlink()
    path.write_bytes(text + b"and more\n")


CHANGES: dict[Callable[[Path], None], str] = {
    vanishing: "not_found",
    growing: "too_large",
    growing_a_little: "precondition_failed",
    truncated: "precondition_failed",
    emptied: "precondition_failed",
    written_anew: "precondition_failed",
    made_a_link: "precondition_failed",
    made_a_folder: "precondition_failed",
}
# A move opens the document only when it comes to moving it.
CHANGES_OF_A_MOVE = {**CHANGES, made_a_link: "path_not_allowed"}


@pytest.mark.parametrize("call", [PATCH, APPEND], ids=lambda call: str(call[0]))
def test_a_file_that_changes_between_plan_and_write_is_left_as_it_is_then(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, call: tuple[str, Args]
) -> None:
    path = scene.home / call[1]["path"]
    for number, change in enumerate(CHANGES):
        old = path.read_bytes()
        seen: dict[str, Any] = {}
        envelope = changed_in_the_middle(scene, monkeypatch, call, change, seen)
        assert_nothing_came_of_it(scene, call, envelope, CHANGES[change], seen)
        put_back(path, old)
        assert_next_write_works(scene, call[0], {**call[1], "idempotencyKey": f"again {number}"})


@pytest.mark.parametrize(
    "change", [vanishing, growing, truncated, made_a_link], ids=lambda each: each.__name__
)
def test_a_document_that_changes_while_it_is_moved_stays_where_it_is(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    old = (scene.home / NOTES).read_bytes()
    seen: dict[str, Any] = {}
    envelope = changed_in_the_middle(scene, monkeypatch, MOVE, change, seen)
    assert_nothing_came_of_it(scene, MOVE, envelope, CHANGES_OF_A_MOVE[change], seen)
    put_back(scene.home / NOTES, old)
    assert_next_write_works(scene, *MOVE)


def changed_in_the_middle(
    scene: Scene,
    monkeypatch: pytest.MonkeyPatch,
    call: tuple[str, Args],
    change: Callable[[Path], None],
    seen: dict[str, Any],
) -> Envelope:
    def meddle() -> None:
        change(scene.home / call[1]["path"])
        seen.update({path: state for path, state in everything(scene).items() if "/.new-" not in path})

    meddling(monkeypatch, LockedStream, "begin", meddle)
    return scene.garden.session(ADA, "companion", role="maintainer").call(*call)


def put_back(path: Path, content: bytes) -> None:
    if path.is_dir():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    (path.parent / "elsewhere").unlink(missing_ok=True)
    path.write_bytes(content)


def test_an_edit_from_outside_in_the_middle_of_a_call_is_kept_and_the_call_can_be_made_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = scene.garden.session(ADA, "companion")
    notes = scene.home / NOTES
    meddling(monkeypatch, LockedStream, "begin", lambda: growing_a_little(notes))
    refused = keeper.call(*APPEND)
    scene.assert_refused(refused, APPEND, "precondition_failed")
    again = keeper.call(*APPEND)
    assert again["meta"]["adoptedEventId"]
    assert "and more" in notes.read_text()
    assert notes.read_text().endswith("slept well\n")


def test_a_document_that_vanishes_while_others_are_searched_is_left_out(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    meddling(monkeypatch, GardenFiles, "exists", lambda: vanishing(scene.home / NOTES))
    found = scene.garden.session(ADA).call("fs.search", {"root": f"users/{ADA}", "pattern": "."})
    assert {match["path"] for match in found["result"]} == {DOCUMENT}
    scene.assert_refused(
        scene.garden.session(ADA).call("fs.search", {"root": NOTES, "pattern": "."}), NOTES, "not_found"
    )
