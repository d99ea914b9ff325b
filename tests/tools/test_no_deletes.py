"""Attempts to delete a document by any trick, and diffs for other documents: the text stays."""

from pathlib import Path

from garden.tools.registry import REGISTRY
from tests.files.traversal_corpus import ADA, BEN, DOCUMENT
from tests.tools.attacked import NOTES, Scene

DELETING = (
    *(
        "fs.delete",
        "fs_delete",
        "fs.rm",
        "fs.remove",
        "archon.fs.delete",
        "fs.unlink",
        "fs.rmdir",
        "fs.rmtree",
    ),
    *("FS.DELETE", "Fs.Remove", "fs-delete", "fs/rm", "rm", "del", "fs.del", "fs_rm", "delete_document"),
    *("md.delete_section", "events.delete", "events.purge", "fs.wipe", "fs.trash", "fs.truncate", "fs.erase"),
    *("garden.destroy", "fs.shred", "fs.discard", "memory.removeAll", "fs.rmtree"),
)
OTHER_NAMES = (
    "fs.frob",
    "alarm",
    "model.list",
    "charm",
    "format",
    "",
    "fs.",
    ".",
    "\0",
    "\ud800",
    "x" * 10**6,
)


def test_a_deleting_tool_name_is_refused_as_a_deletion(scene: Scene) -> None:
    files, records = scene.files(), scene.records()
    ada = scene.garden.session(ADA, role="maintainer")
    for name in DELETING:
        for envelope in (
            ada.call(name, {"path": NOTES}),
            ada.call(name),
            ada.call("propose_change", {"tool": name, "args": {"path": NOTES}}),
            ada.call("tools.help", {"tool": name}),
        ):
            scene.assert_refused(envelope, name, "delete_not_allowed")
    assert scene.files() == files
    assert scene.records() == records


def test_no_tool_is_named_like_a_deletion() -> None:
    assert not set(REGISTRY) & set(DELETING)


def test_an_unknown_tool_is_not_taken_for_a_deletion(scene: Scene) -> None:
    for name in OTHER_NAMES:
        envelope = scene.garden.session(ADA).call(name, {"path": NOTES})
        scene.assert_refused(envelope, name[:20], "unknown_tool")
        assert len(scene.told(envelope)) < 2000


def test_the_whole_text_is_never_replaced_by_nothing(scene: Scene) -> None:
    ada = scene.garden.session(ADA)
    files, records = scene.files(), scene.records()
    for path in (NOTES, DOCUMENT):
        for content in ("", "\n", " ", "---\n---\n", "# Gone\n", "\ufeff"):
            envelope = ada.call("fs.write", {"path": path, "content": content})
            scene.assert_refused(envelope, (path, content), "identity_changed", "malformed_document")
        text = (scene.home / path).read_text()
        lines = text.splitlines()
        everything = f"@@ -1,{len(lines)} +0,0 @@\n" + "".join(f"-{line}\n" for line in lines)
        envelope = ada.call("fs.patch", {"path": path, "diffText": everything})
        scene.assert_refused(envelope, path, "identity_changed", "anchor_changed")
    assert scene.files() == files
    assert scene.records() == records


def diff_of(scene: Scene, old: str, new: str) -> str:
    lines = (scene.home / NOTES).read_text().splitlines()
    at = lines.index("# Notes") + 1
    return f"--- {old}\n+++ {new}\n@@ -{at},1 +{at},1 @@\n-# Notes\n+# My Notes\n"


def test_a_diff_that_deletes_the_file_is_refused_as_that(scene: Scene) -> None:
    files, records = scene.files(), scene.records()
    git = f"diff --git a/{NOTES} b/{NOTES}\ndeleted file mode 100644\n"
    gone = [diff_of(scene, old, "/dev/null") for old in (f"a/{NOTES}", "/dev/null", NOTES, "a")]
    for diff in (*gone, git):
        args = {"path": NOTES, "diffText": diff}
        for tool, asked in (("fs.patch", args), ("propose_change", {"tool": "fs.patch", "args": args})):
            scene.assert_refused(scene.garden.session(ADA).call(tool, asked), diff, "delete_not_allowed")
    assert scene.files() == files
    assert scene.records() == records


OTHERS = (
    *("users/ada/other.md", "users/ada/overview.md", "users/ben/notes.md", "users/adanotes.md", "xnotes.md"),
    *("users/ada/parts/critic/notes.md", "../notes.md", "/etc/notes.md", "history/ada/notes.md", "other.md"),
    *("home/users/ada/notes.md", "ada/../ada/notes.md"),
)
SAME = (
    *((NOTES, NOTES), (f"a/{NOTES}", f"b/{NOTES}"), ("a/notes.md", "b/notes.md"), ("ada/notes.md", NOTES)),
    *(("a", "b"), ("before", "after"), (f"./{NOTES}", f"./{NOTES}"), (f'"a/{NOTES}"', f'"b/{NOTES}"')),
    (f"a/{NOTES}\t2026-11-18 08:25:00", f"b/{NOTES}\t2026-11-18 08:26:00"),
)


def test_a_diff_of_another_document_is_refused(scene: Scene) -> None:
    files, records = scene.files(), scene.records()
    for other in OTHERS:
        for old, new in ((other, other), (f"a/{other}", f"b/{other}"), (f"a/{NOTES}", f"b/{other}")):
            args = {"path": NOTES, "diffText": diff_of(scene, old, new)}
            envelope = scene.garden.session(ADA).call("fs.patch", args)
            scene.assert_refused(envelope, (old, new), "patch_conflict")
    assert scene.files() == files
    assert scene.records() == records


def test_a_diff_of_this_document_fits_however_it_is_named(scene: Scene) -> None:
    for old, new in SAME:
        args = {"path": NOTES, "diffText": diff_of(scene, old, new), "dryRun": True}
        assert scene.garden.session(ADA).call("fs.patch", args)["ok"], (old, new)


NO_DIFFS = ("", "\n", "words", "@@", "@@ -1 +1 @@", "@@ -1,9 +1,9 @@\n x\n", "--- a\n+++ b\n", "\0", "\ud800")


def test_a_diff_that_fits_nowhere_or_twice_changes_nothing_and_shows_the_nearest_text(scene: Scene) -> None:
    ada = scene.garden.session(ADA)
    for _ in range(2):
        ada.fs.append(NOTES, "the same line\n\nand the next", idempotency_key=f"{_}")
    files, records = scene.files(), scene.records()
    nowhere = "@@ -1,1 +1,1 @@\n-the saame line\n+x\n"
    twice = "@@ -1,1 +1,1 @@\n-the same line\n+x\n"
    torn = "@@ -1,1 +1,1 @@\n-the same line \ud800\n+x\n"
    long = "@@ -1,20000 +1,1 @@\n" + "-the same line\n" * 20_000 + "+x\n"
    for diff in (nowhere, twice, torn, long):
        envelope = ada.call("fs.patch", {"path": NOTES, "diffText": diff})
        scene.assert_refused(envelope, diff[:60], "patch_conflict")
        assert len(scene.told(envelope)) < 8000
    assert "the same line" in ada.call("fs.patch", {"path": NOTES, "diffText": nowhere})["error"]["message"]
    for no_diff in (
        "",
        "\n",
        "words",
        "@@",
        "@@ -1 +1 @@",
        "@@ -1,9 +1,9 @@\n x\n",
        "--- a\n+++ b\n",
        "\0",
        "\ud800",
    ):
        envelope = ada.call("fs.patch", {"path": NOTES, "diffText": no_diff})
        scene.assert_refused(envelope, no_diff, "invalid_input")
    assert scene.files() == files
    assert scene.records() == records


def test_a_list_may_be_pruned_to_nothing_and_its_section_stays(scene: Scene) -> None:
    ada = scene.garden.session(ADA)
    ada.md.curate_list(DOCUMENT, "concerns v1", "append", ["one", "two"], "to begin with")
    ada.md.curate_list(DOCUMENT, "concerns v1", "prune", ["one", "two"], "it is over")
    assert "<!-- @anchor: concerns v1 -->" in (scene.home / DOCUMENT).read_text()
    envelope = ada.call(
        "md.curate_list",
        {"path": DOCUMENT, "sectionAnchor": "change_log v1", "ops": "prune", "items": ["x"], "reason": "y"},
    )
    scene.assert_refused(envelope, "the log", "permission_denied")


def test_a_move_takes_no_document_away_from_its_garden_or_over_another(scene: Scene) -> None:
    files, records = scene.files(), scene.records()
    agent = scene.garden.session(ADA)
    reviewer = scene.garden.session(ADA, role="reviewer")
    keeper = scene.garden.session(ADA, role="maintainer")
    copy = agent.fs.list(f"history/{ADA}/parts/critic/profile").result[0]
    for session in (agent, reviewer):
        envelope = session.call("fs.move", {"path": NOTES, "newPath": f"users/{ADA}/parts/critic/notes.md"})
        scene.assert_refused(envelope, session.caller.role, "permission_denied")
    for new in (
        copy,
        f"history/{ADA}/notes",
        f"users/{BEN}/parts/critic/notes.md",
        f"users/{ADA}",
        "/dev/null",
    ):
        scene.assert_refused(keeper.call("fs.move", {"path": NOTES, "newPath": new}), new)
        scene.assert_refused(keeper.call("fs.move", {"path": new, "newPath": NOTES}), new)
    for new in (DOCUMENT, NOTES):
        envelope = keeper.call("fs.move", {"path": NOTES, "newPath": new})
        scene.assert_refused(envelope, new, "already_exists")
    assert scene.files() == files
    assert scene.records() == records


def test_a_document_is_not_planted_over_another(scene: Scene) -> None:
    before = scene.files()
    for path in (NOTES, DOCUMENT):
        envelope = scene.garden.session(ADA).call("md.plant", {"path": path, "idempotencyKey": "anew"})
        scene.assert_refused(envelope, path, "already_exists")
    assert scene.files() == before


def test_a_history_copy_is_neither_written_nor_replaced_by_any_tool(scene: Scene) -> None:
    keeper = scene.garden.session(ADA, role="maintainer")
    copy = keeper.fs.list(f"history/{ADA}/parts/critic/profile").result[0]
    before = scene.files()
    for name, tool in REGISTRY.items():
        if tool.traits.writes and "path" in tool.fields:
            for path in (copy, str(Path(copy).parent), f"history/{ADA}"):
                envelope = keeper.call(name, {**tool.example, "path": path})
                scene.assert_refused(envelope, (name, path))
    assert scene.files() == before
