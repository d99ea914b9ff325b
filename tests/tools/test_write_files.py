from concurrent.futures import ThreadPoolExecutor

import pytest

from garden.application import Garden
from garden.grammar.canonical import content_hash
from garden.session import Session
from tests.support.gardens import (
    CRITIC,
    NOTES,
    OVERVIEW,
    edit_outside,
    events_of,
    file_of,
    ok,
    plant,
    put,
    refused,
    result,
    rows,
)

WHOLE = (
    "---\nid: ada-notes\nuser_id: ada\nschema: 1\n---\n\n# Notes\n\n## Inbox\n<!-- @anchor: inbox v1 -->\n\n"
    "## Summaries\n<!-- @anchor: summaries v1 -->\n"
)
DIFF = "@@ -9,3 +9,4 @@\n ## Inbox\n <!-- @anchor: inbox v1 -->\n \n+slept well\n"


def test_a_write_begins_a_document_and_answers_its_hash(garden: Garden, ada: Session) -> None:
    assert result(ada, "fs.write", path=NOTES, content=WHOLE) == {"newHash": content_hash(WHOLE)}
    assert file_of(garden, NOTES).read_text() == WHOLE
    event = rows(ada, path=NOTES)[0]
    assert (event["op"], event["beforeHash"], event["splices"][0]["inserted"]) == ("write_file", None, WHOLE)


def test_of_two_that_begin_a_free_form_document_only_where_none_is_one_succeeds(garden: Garden) -> None:
    nothing = content_hash("")
    callers = [garden.session("ada", name) for name in ("first", "second")]

    def begin(session: Session) -> str:
        fields = {"path": "users/ada/memories/tea.md", "content": session.caller.actor, "ifMatch": nothing}
        envelope = session.call("fs.write", fields)
        return "ok" if envelope["ok"] else str(envelope["error"]["code"])

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(begin, callers)) == ["ok", "precondition_failed"]


def test_new_folders_and_files_are_for_their_owner_only(garden: Garden, ada: Session) -> None:
    plant(ada, CRITIC)
    assert file_of(garden, CRITIC).stat().st_mode & 0o777 == 0o600
    assert file_of(garden, "users/ada/parts/critic").stat().st_mode & 0o777 == 0o700


def test_a_write_replaces_the_whole_text(garden: Garden, ada: Session) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    changed = WHOLE.replace("# Notes", "# My Notes")
    ok(ada, "fs.write", path=NOTES, content=changed)
    assert file_of(garden, NOTES).read_text() == changed
    assert rows(ada, path=NOTES)[0]["splices"] == [{"offset": 48, "removed": "", "inserted": "My "}]


def test_a_write_keeps_line_ends_and_byte_order_mark(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, ("\ufeff" + WHOLE.replace("\n", "\r\n")).encode())
    changed = WHOLE.replace("# Notes", "# My Notes")
    ok(ada, "fs.write", path=NOTES, content=changed)
    assert file_of(garden, NOTES).read_bytes() == ("\ufeff" + changed.replace("\n", "\r\n")).encode()


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("<!-- @anchor: inbox v1 -->\n", "", "anchor_changed"),
        ("inbox v1", "inbox v2", "anchor_changed"),
        ("## Inbox\n", "", "anchor_changed"),
        ("id: ada-notes", "id: other", "identity_changed"),
        ("user_id: ada", "user_id: ben", "identity_changed"),
        ("schema: 1", "schema: 2", "identity_changed"),
        ("schema: 1\n", "", "identity_changed"),
        ("schema: 1\n---", "schema: [1\n---", "malformed_document"),
        ("# Notes", "# No\x00tes", "not_text"),
    ],
)
def test_no_edit_gets_past_the_hard_blocks(
    garden: Garden, ada: Session, old: str, new: str, code: str
) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    error = refused(ada, "fs.write", code, path=NOTES, content=WHOLE.replace(old, new, 1))
    assert error["hint"]
    assert file_of(garden, NOTES).read_text() == WHOLE
    assert events_of(ada, NOTES) == ["write_file committed"]


def test_a_relationships_participants_stay(garden: Garden, ada: Session) -> None:
    path = "users/ada/relationships/us/profile.md"
    ok(ada, "md.plant", path=path, participants=["critic", "child"])
    text = file_of(garden, path).read_text().replace("- critic", "- stranger")
    refused(ada, "fs.write", "identity_changed", path=path, content=text)


def test_a_document_with_malformed_frontmatter_is_edited_by_no_tool(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, WHOLE.replace("schema: 1", "schema: [1").encode())
    patch = {"sectionAnchor": "inbox v1", "change": {"append": "a"}}
    refused(ada, "fs.append", "malformed_document", path=NOTES, text="a")
    refused(ada, "fs.patch", "malformed_document", path=NOTES, diffText=DIFF)
    refused(ada, "md.patch_section", "malformed_document", path=NOTES, **patch)


def test_other_frontmatter_survives_byte_for_byte(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, WHOLE.replace("1\n---", "1\nmood:   'grey'  # today\nZ: {a: 1}\n---").encode())
    ok(ada, "fs.append", path=NOTES, text="slept well")
    assert "1\nmood:   'grey'  # today\nZ: {a: 1}\n---" in file_of(garden, NOTES).read_text()


def test_a_text_without_the_right_frontmatter_is_refused(ada: Session) -> None:
    assert "md.plant" in refused(ada, "fs.write", "identity_changed", path=NOTES, content="# Notes\n")["hint"]


def test_a_too_large_text_is_refused(ada: Session) -> None:
    refused(ada, "fs.write", "too_large", path=NOTES, content=WHOLE + "a" * 1024 * 1024)
    assert rows(ada) == []


def test_if_match_holds_for_a_whole_document(ada: Session) -> None:
    first = result(ada, "fs.write", path=NOTES, content=WHOLE)["newHash"]
    second = result(ada, "fs.write", path=NOTES, content=WHOLE + "\na\n", opts={"ifMatch": first})["newHash"]
    error = refused(ada, "fs.write", "precondition_failed", path=NOTES, content=WHOLE, ifMatch=first)
    assert error["details"] == {"documentHash": second}


def test_if_match_never_matches_a_missing_document(ada: Session) -> None:
    wrong = content_hash("")
    refused(ada, "fs.write", "precondition_failed", path=NOTES, content=WHOLE, ifMatch=wrong)


def test_an_invalid_if_match_is_named(ada: Session) -> None:
    plant(ada, NOTES)
    for wrong in ("nonsense", "", "sha256:", "SHA256:" + "0" * 64, "sha256:" + "0" * 64 + "\n"):
        error = refused(ada, "fs.append", "precondition_failed", path=NOTES, text="a", ifMatch=wrong)
        assert error["message"] == "ifMatch is no hash, so it can't be the current one."
        assert "fs.hash" in error["hint"]
    error = refused(
        ada, "fs.append", "precondition_failed", path=NOTES, text="a", ifMatch="sha256:" + "0" * 64
    )
    assert "changed since" in error["message"]


def test_a_section_hash_does_not_match_a_whole_document(ada: Session) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    section = result(ada, "fs.hash", path=NOTES, sectionAnchor="inbox v1")
    refused(ada, "fs.append", "precondition_failed", path=NOTES, text="a", ifMatch=section)


def test_entries_are_appended_to_the_inbox_with_one_blank_line_between(garden: Garden, ada: Session) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    for text in ("one", "\n\ntwo\n\n", "three"):
        size = result(ada, "fs.append", path=NOTES, text=text)
    text = WHOLE.replace("inbox v1 -->\n", "inbox v1 -->\n\none\n\ntwo\n\nthree\n")
    assert file_of(garden, NOTES).read_text() == text
    assert size == {"newSize": file_of(garden, NOTES).stat().st_size}
    assert rows(ada)[0]["sectionAnchor"] == "inbox v1"


@pytest.mark.parametrize("path", [CRITIC, OVERVIEW])
def test_an_entry_for_a_profile_does_not_land_in_its_change_log(ada: Session, path: str) -> None:
    plant(ada, path)
    error = refused(ada, "fs.append", "invalid_input", path=path, text="Slept well.")
    assert "Change Log" in error["message"]
    assert "md.patch_section" in error["hint"]
    assert events_of(ada, path) == ["plant committed"]


def test_the_new_size_counts_bytes(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, WHOLE.replace("\n", "\r\n").encode())
    size = result(ada, "fs.append", path=NOTES, text="日記")["newSize"]
    assert size == file_of(garden, NOTES).stat().st_size
    assert file_of(garden, NOTES).read_bytes().count("-->\r\n\r\n日記\r\n".encode()) == 1


def test_a_file_that_ends_without_a_line_end_goes_on_so(garden: Garden, ada: Session) -> None:
    whole = WHOLE[: WHOLE.index("## Summaries")]
    put(garden, NOTES, (whole + "last words").encode())
    ok(ada, "fs.append", path=NOTES, text="more")
    assert file_of(garden, NOTES).read_text() == whole + "last words\n\nmore"


def test_an_append_needs_a_document_and_words(ada: Session) -> None:
    refused(ada, "fs.append", "not_found", path=NOTES, text="a")
    plant(ada, NOTES)
    refused(ada, "fs.append", "invalid_input", path=NOTES, text=" \n")


def test_a_text_that_is_there_once_is_replaced(garden: Garden, ada: Session) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    answer = result(ada, "fs.edit", path=NOTES, find="# Notes\n\n## In", replace="# Mine\n\n## In")
    text = WHOLE.replace("# Notes", "# Mine")
    assert file_of(garden, NOTES).read_text() == text
    assert answer == {"newHash": content_hash(text), "matchCount": 1}
    assert rows(ada, path=NOTES)[0]["op"] == "replace_text"


def test_a_text_that_is_there_twice_or_never_is_refused_with_the_count(ada: Session) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    twice = refused(ada, "fs.edit", "patch_conflict", path=NOTES, find="<!-- @anchor", replace="x")["details"]
    assert twice == {"matchCount": 2, "lines": [10, 13]}
    never = refused(ada, "fs.edit", "patch_conflict", path=NOTES, find="## Summary", replace="x")["details"]
    assert never["matchCount"] == 0
    assert events_of(ada, NOTES) == ["write_file committed"]


@pytest.mark.parametrize(
    ("find", "code"),
    [
        ("<!-- @anchor: inbox v1 -->\n", "anchor_changed"),
        ("inbox v1", "anchor_changed"),
        ("id: ada-notes", "identity_changed"),
        ("schema: 1\n---", "malformed_document"),
    ],
)
def test_an_edit_keeps_anchors_and_identity(ada: Session, find: str, code: str) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    refused(ada, "fs.edit", code, path=NOTES, find=find, replace="id: x")


def test_a_diff_is_applied(garden: Garden, ada: Session) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    answer = result(ada, "fs.patch", path=NOTES, diffText=DIFF)
    text = WHOLE.replace("inbox v1 -->\n\n", "inbox v1 -->\n\nslept well\n")
    assert file_of(garden, NOTES).read_text() == text
    assert answer == {"newHash": content_hash(text)}
    assert rows(ada, path=NOTES)[0]["op"] == "apply_diff"


def test_a_diff_with_file_names_is_applied(ada: Session) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    ok(ada, "fs.patch", path=NOTES, diffText=f"--- a/{NOTES}\n+++ b/{NOTES}\n{DIFF}")


def test_line_numbers_may_be_off_where_the_place_is_unique(ada: Session) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    ok(ada, "fs.patch", path=NOTES, diffText=DIFF.replace("-9,3 +9,4", "-2,3 +2,4"))


def test_a_diff_that_fits_in_two_places_is_refused(ada: Session) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE + "\nsame\n\nother\n\nsame\n")
    refused(ada, "fs.patch", "patch_conflict", path=NOTES, diffText="@@ -1,1 +1,1 @@\n-same\n+new\n")


def test_a_diff_that_fits_nowhere_names_the_hunk_and_the_nearest_text(ada: Session) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    second = "@@ -12,2 +13,2 @@\n-## Summary\n+## Sums\n <!-- @anchor: summaries v1 -->\n"
    error = refused(ada, "fs.patch", "patch_conflict", path=NOTES, diffText=DIFF + second)
    assert "2" in error["message"]
    assert "## Summaries" in error["message"] + error["hint"] + str(error["details"])
    assert events_of(ada, NOTES) == ["write_file committed"]


def test_a_diff_that_would_delete_the_file_is_refused_as_that(ada: Session) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    removed = "".join(f"-{line}\n" for line in WHOLE.splitlines())
    diff = f"--- a/{NOTES}\n+++ /dev/null\n@@ -1,{len(WHOLE.splitlines())} +0,0 @@\n{removed}"
    refused(ada, "fs.patch", "delete_not_allowed", path=NOTES, diffText=diff)


@pytest.mark.parametrize("diff", ["", "not a diff", "@@ -1,1 +1,1 @@\n"])
def test_a_text_that_is_not_a_diff_is_refused(ada: Session, diff: str) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    refused(ada, "fs.patch", "invalid_input", path=NOTES, diffText=diff)


def test_a_diff_of_a_profile_leaves_a_line_in_the_change_log(ada: Session) -> None:
    plant(ada, CRITIC)
    diff = "@@ -7,1 +7,1 @@\n-# Part\n+# The Critic\n"
    envelope = ok(ada, "fs.patch", path=CRITIC, diffText=diff, rationale="A name.")
    line = f"· document · apply_diff · A name. (evt:{envelope['meta']['eventId']})"
    assert line in result(ada, "fs.read", path=CRITIC)


def test_a_folder_is_made_once(garden: Garden, ada: Session) -> None:
    first = ok(ada, "fs.ensure_dir", path="users/ada/parts/critic", rationale="For later.")
    assert first["result"] is None
    assert file_of(garden, "users/ada/parts/critic").is_dir()
    assert rows(ada)[0]["eventId"] == first["meta"]["eventId"]
    assert rows(ada)[0]["rationale"] == "For later."
    second = ok(ada, "fs.ensure_dir", path="users/ada/parts/critic")
    assert second["meta"]["unchanged"]
    assert len(rows(ada)) == 1
    wrong = content_hash("")
    refused(ada, "fs.ensure_dir", "precondition_failed", path="users/ada/relationships", ifMatch=wrong)


def test_a_key_that_stands_for_another_request_makes_no_folder(garden: Garden, ada: Session) -> None:
    ok(ada, "fs.ensure_dir", path="users/ada/parts/critic", idempotencyKey="k")
    refused(ada, "fs.ensure_dir", "idempotency_conflict", path="users/ada/parts/child", idempotencyKey="k")
    assert not file_of(garden, "users/ada/parts/child").exists()
    assert ok(ada, "fs.ensure_dir", path="users/ada/parts/critic", idempotencyKey="k")["meta"]["replayed"]


def test_a_dry_run_makes_no_folder(garden: Garden, ada: Session) -> None:
    assert ok(ada, "fs.ensure_dir", path="users/ada/parts", dryRun=True)["meta"]["dryRun"]
    assert not file_of(garden, "users/ada").exists()
    assert rows(ada) == []


def test_an_edit_that_changes_nothing_records_nothing(ada: Session) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    envelope = ok(ada, "fs.write", path=NOTES, content=WHOLE, rationale="Again.")
    assert envelope["meta"]["unchanged"]
    assert "eventId" not in envelope["meta"]
    assert envelope["result"] == {"newHash": content_hash(WHOLE)}
    assert events_of(ada, NOTES) == ["write_file committed"]


def test_an_edit_applies_to_the_text_an_editor_left(garden: Garden, ada: Session) -> None:
    ok(ada, "fs.write", path=NOTES, content=WHOLE)
    edit_outside(garden, NOTES, "# Notes", "# Notes of mine")
    ok(ada, "fs.append", path=NOTES, text="slept well")
    assert "# Notes of mine" in file_of(garden, NOTES).read_text()
