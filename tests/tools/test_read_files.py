import os
from typing import Any

import pytest

from garden.application import Garden, open_garden
from garden.grammar.canonical import content_hash
from garden.home.folder import Home
from garden.session import Session
from tests.support.examples import DOCUMENT_READERS
from tests.support.gardens import (
    CRITIC,
    NOTES,
    OVERVIEW,
    edit_outside,
    file_of,
    ok,
    plant,
    put,
    refused,
    result,
)

LONG = (
    "\n".join(["---", "id: ada-notes", "user_id: ada", "schema: 1", "---", *map(str, range(6, 1201))]) + "\n"
)


def test_a_listing_is_a_list_of_paths(ada: Session) -> None:
    plant(ada, NOTES, OVERVIEW, CRITIC)
    assert result(ada, "fs.list", path="users/ada") == [NOTES, OVERVIEW, "users/ada/parts"]
    assert result(ada, "fs.list", path="users/ada/parts/critic") == [CRITIC]


def test_a_glob_narrows_a_listing(ada: Session) -> None:
    plant(ada, NOTES, OVERVIEW, CRITIC)
    wanted = {
        "*.md": [NOTES, OVERVIEW],
        "**/*.md": [NOTES, OVERVIEW, CRITIC],
        "parts/*/profile.md": [CRITIC],
        "*/profile.md": [],
        "n?tes.md": [NOTES],
        "**/profile.md": [CRITIC],
        "[n]otes.md": [],
        "notes": [],
    }
    for glob, found in wanted.items():
        assert result(ada, "fs.list", path="users/ada", glob=glob) == found, glob


@pytest.mark.parametrize("tool", [name for name in DOCUMENT_READERS if not name.startswith("history.")])
def test_a_missing_file_names_its_recorded_version(garden: Garden, ada: Session, tool: str) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="slept well")
    assert "nothing at this path" in refused(ada, tool, "not_found", path=OVERVIEW)["message"]
    before = file_of(garden, NOTES).read_bytes()
    file_of(garden, NOTES).unlink()
    error = refused(ada, tool, "not_found", path=NOTES)
    assert "the event log holds version 2 of it" in error["message"]
    assert "md.restore ('garden restore')" in error["hint"]
    assert error["details"] == {"version": 2}
    put(garden, NOTES, before)


def test_a_document_that_moved_away_is_not_missing(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    keeper = garden.session("ada", "keeper", role="maintainer")
    ok(keeper, "fs.move", path=NOTES, newPath="users/ada/parts/critic/notes.md")
    assert "nothing at this path" in refused(ada, "fs.read", "not_found", path=NOTES)["message"]


def test_a_missing_folder_is_not_found(ada: Session) -> None:
    refused(ada, "fs.list", "not_found", path="users/ada/parts")


def test_a_long_listing_is_cut_and_says_so(
    garden: Garden, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(garden.session("ada"), NOTES, OVERVIEW, CRITIC)
    monkeypatch.setenv("GARDEN_LIMITS_LIST_NAMES", "2")
    with open_garden(home.path) as narrow:
        envelope = ok(narrow.session("ada"), "fs.list", path="users/ada")
    assert envelope["result"] == [NOTES, OVERVIEW]
    assert envelope["meta"]["truncated"] == {"shown": 2, "total": 3}
    assert "2 of 3" in envelope["meta"]["warnings"][0]


def test_at_most_500_names_are_listed(garden: Garden, ada: Session) -> None:
    for number in range(501):
        (garden.home.path / f"users/ada/parts/p{number:03}").mkdir(parents=True)
    envelope = ok(ada, "fs.list", path="users/ada/parts")
    assert len(envelope["result"]) == 500
    assert envelope["meta"]["truncated"] == {"shown": 500, "total": 501}


def test_a_read_gives_the_text_as_it_is(garden: Garden, ada: Session) -> None:
    text = "\ufeff---\r\nid: ada-notes\r\nuser_id: ada\r\n---\r\n\r\n# 日記\r\n\r\n眠れない"
    put(garden, NOTES, text.encode())
    envelope = ok(ada, "fs.read", path=NOTES)
    assert envelope["result"] == text
    assert envelope["meta"]["documentHash"] == content_hash(text)


def test_ranges_give_slices_with_both_ends_included(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, LONG.encode())
    wanted = [{"startLine": 1, "endLine": 2}, {"startLine": 1199, "endLine": 2000}]
    assert result(ada, "fs.read", path=NOTES, ranges=wanted) == {
        "rangeSlices": [
            {"startLine": 1, "endLine": 2, "text": "---\nid: ada-notes\n"},
            {"startLine": 1199, "endLine": 1200, "text": "1199\n1200\n"},
        ]
    }


def test_without_ranges_500_lines_come_back_and_how_to_go_on(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, LONG.encode())
    first = ok(ada, "fs.read", path=NOTES)
    assert first["result"] == "".join(LONG.splitlines(keepends=True)[:500])
    following = first["meta"]["truncated"]["next"]
    assert following == {"startLine": 501, "endLine": 1200}
    assert '{"startLine":501,"endLine":1200}' in first["meta"]["warnings"][0]
    second = ok(ada, "fs.read", path=NOTES, ranges=[following])
    third = ok(ada, "fs.read", path=NOTES, ranges=[second["meta"]["truncated"]["next"]])
    slices = [*second["result"]["rangeSlices"], *third["result"]["rangeSlices"]]
    assert first["result"] + "".join(each["text"] for each in slices) == LONG
    assert "truncated" not in third["meta"]


def test_ranges_beyond_the_limit_are_reported_as_truncated(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, LONG.encode())
    wanted = [{"startLine": 1, "endLine": 500}, {"startLine": 600, "endLine": 601}]
    envelope = ok(ada, "fs.read", path=NOTES, ranges=wanted)
    assert len(envelope["result"]["rangeSlices"]) == 1
    assert envelope["meta"]["truncated"]["next"] == {"startLine": 600, "endLine": 601}


@pytest.mark.parametrize(
    ("ranges", "whole"),
    [
        ([(1, 12)], True), ([(7, 99), (1, 8)], True), ([(1, 1)], False), ([(1, 5), (7, 12)], False),
        ([(2, 12)], False),
    ],
)  # fmt: skip
def test_only_an_answer_with_every_line_has_the_hash_of_the_whole(
    garden: Garden, ada: Session, ranges: list[tuple[int, int]], whole: bool
) -> None:
    put(garden, NOTES, "".join(LONG.splitlines(keepends=True)[:12]).encode())
    asked = [{"startLine": first, "endLine": last} for first, last in ranges]
    assert ("documentHash" in ok(ada, "fs.read", path=NOTES, ranges=asked)["meta"]) is whole
    assert "documentHash" in ok(ada, "fs.read", path=NOTES)["meta"]
    put(garden, NOTES, LONG.encode())
    cut_off = ok(ada, "fs.read", path=NOTES, ranges=[{"startLine": 1, "endLine": 9999}])
    for partial in (cut_off, ok(ada, "fs.read", path=NOTES), ok(ada, "md.list_sections", path=NOTES)):
        assert "documentHash" not in partial["meta"]


def test_an_invalid_range_is_refused(ada: Session) -> None:
    plant(ada, NOTES)
    wrong: list[list[dict[str, Any]]] = [
        [],
        [{"startLine": 0, "endLine": 1}],
        [{"startLine": 3, "endLine": 2}],
        [{"startLine": 99, "endLine": 99}],
        [{"startLine": 1}],
        [{"startLine": "1", "endLine": 2}],
        [{"startLine": True, "endLine": 2}],
    ]
    for ranges in wrong:
        refused(ada, "fs.read", "invalid_input", path=NOTES, ranges=ranges)


def test_reading_a_folder_is_refused(ada: Session) -> None:
    plant(ada, NOTES)
    refused(ada, "fs.read", "path_not_allowed", path="users/ada")


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"\xff\xfe", "not_text"), (b"a\x00b", "not_text"), (b"a" * (1024 * 1024 + 1), "too_large")],
)
def test_a_binary_or_too_large_file_is_refused(
    garden: Garden, ada: Session, content: bytes, code: str
) -> None:
    put(garden, NOTES, content)
    refused(ada, "fs.read", code, path=NOTES)
    refused(ada, "fs.append", code, path=NOTES, text="more")
    assert (garden.home.path / NOTES).read_bytes() == content


@pytest.mark.parametrize("top", ["users/ada", "history/ada"])
def test_a_garden_that_has_not_begun_is_there_and_empty(ada: Session, top: str) -> None:
    for envelope in (ok(ada, "fs.list", path=top), ok(ada, "fs.search", root=top, pattern="a")):
        assert envelope["result"] == []
        assert "md.plant" in envelope["meta"]["hint"]
    refused(ada, "fs.list", "path_not_allowed", path=top.replace("ada", "ben"))


def test_history_can_be_listed_read_and_searched(ada: Session) -> None:
    plant(ada, CRITIC)
    before = result(ada, "fs.read", path=CRITIC)
    ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="needs", change={"replace": "- Rest"})
    (copy,) = result(ada, "fs.list", path="history/ada/parts/critic/profile")
    assert result(ada, "fs.read", path=copy) == before
    assert [each["path"] for each in result(ada, "fs.search", root="history/ada", pattern="^## Needs")] == [
        copy
    ]


def test_a_hash_is_over_the_canonical_form(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    before = result(ada, "fs.hash", path=NOTES), result(ada, "fs.hash", path=NOTES, sectionAnchor="inbox v1")
    ok(ada, "fs.append", path=NOTES, text="x")
    edit_outside(garden, NOTES, "\nx\n", "")
    edit_outside(garden, NOTES, "## Inbox\n", "## Inbox  \r\n")
    ok(ada, "md.snapshot_history", path=NOTES)
    after = result(ada, "fs.hash", path=NOTES), result(ada, "fs.hash", path=NOTES, sectionAnchor="inbox v1")
    assert after == before
    assert before[0].startswith("sha256:")
    assert len(before[0]) == 71


def test_a_sections_hash_is_its_own(ada: Session) -> None:
    plant(ada, CRITIC)
    needs = result(ada, "fs.hash", path=CRITIC, sectionAnchor="needs v1")
    change = ok(
        ada, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1", change={"replace": "- Rest"}
    )
    assert result(ada, "fs.hash", path=CRITIC, sectionAnchor="needs v1") == needs
    assert result(ada, "fs.hash", path=CRITIC, sectionAnchor="concerns v1") == change["result"]["afterHash"]
    assert result(ada, "fs.hash", path=CRITIC) == change["meta"]["documentHash"]


def test_a_missing_section_is_refused_with_the_existing_ones(ada: Session) -> None:
    plant(ada, NOTES)
    error = refused(ada, "fs.hash", "anchor_not_found", path=NOTES, sectionAnchor="concerns v1")
    assert "inbox v1" in str(error)


def test_sections_are_listed_with_anchor_heading_and_line(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    edit_outside(garden, NOTES, "## Inbox", "## Loose\n\n```\n## Not one\n```\n\n## Inbox")
    assert result(ada, "md.list_sections", path=NOTES) == [
        {"anchor": "summaries v1", "heading": "Summaries", "startLine": 9},
        {"anchor": "", "heading": "Loose", "startLine": 12},
        {"anchor": "inbox v1", "heading": "Inbox", "startLine": 18},
    ]
    ok(ada, "fs.append", path=NOTES, text="x")


def test_a_listing_goes_to_a_depth(ada: Session) -> None:
    plant(ada, NOTES, CRITIC)
    one, two, all_of_it = (result(ada, "fs.list", path="users/ada", depth=depth) for depth in (1, 2, 10))
    assert one == [NOTES, "users/ada/parts"]
    assert two == [*one, "users/ada/parts/critic"]
    assert all_of_it == [*two, CRITIC]
    assert result(ada, "fs.list", path="users/ada", glob="**/*.md", depth=2) == [NOTES]
    refused(ada, "fs.list", "invalid_input", path="users/ada", depth=11)


def test_a_listing_is_sorted_by_change_or_size(garden: Garden, ada: Session) -> None:
    for at, (path, size) in enumerate([(OVERVIEW, 10), (NOTES, 30), (CRITIC, 20)]):
        put(garden, path, b"x" * size)
        os.utime(garden.home.path / path, (at, at))
    files = {"path": "users/ada", "glob": "**/*.md"}
    assert result(ada, "fs.list", **files, sort="change") == [CRITIC, NOTES, OVERVIEW]
    assert result(ada, "fs.list", **files, sort="size") == [NOTES, CRITIC, OVERVIEW]
    refused(ada, "fs.list", "invalid_input", **files, sort="colour")


def test_a_listing_gives_details_on_request(garden: Garden, ada: Session) -> None:
    put(garden, CRITIC, b"0123456789")
    os.utime(garden.home.path / CRITIC, (86400, 86400))
    assert "entries" not in ok(ada, "fs.list", path="users/ada")["meta"]
    folder, document = ok(ada, "fs.list", path="users/ada/parts", depth=2, details=True)["meta"]["entries"]
    assert (folder["kind"], folder["sizeBytes"]) == ("folder", None)
    about = {"kind": "part_profile", "sizeBytes": 10, "changedAt": "1970-01-02T00:00:00Z"}
    assert document == {"path": CRITIC, **about}


def test_a_read_takes_a_limit_and_tells_about_the_file(garden: Garden, ada: Session) -> None:
    content = "\ufeffone\ntwö\nthree\n"
    put(garden, NOTES, content.encode())
    os.utime(garden.home.path / NOTES, (86400, 86400))
    cut = ok(ada, "fs.read", path=NOTES, maxLines=2)
    assert cut["result"] == "\ufeffone\ntwö\n"
    assert cut["meta"]["truncated"]["next"] == {"startLine": 3, "endLine": 3}
    assert "documentHash" not in cut["meta"]
    about = {"totalLines": 3, "sizeBytes": 18, "changedAt": "1970-01-02T00:00:00Z", "encoding": "utf-8-sig"}
    assert about.items() <= cut["meta"].items()
    slices = ok(ada, "fs.read", path=NOTES, maxLines=1, ranges=[{"startLine": 2, "endLine": 3}])
    assert [each["text"] for each in slices["result"]["rangeSlices"]] == ["twö\n"]
    assert ok(ada, "fs.read", path=NOTES, maxLines=9)["result"] == content
    refused(ada, "fs.read", "invalid_input", path=NOTES, maxLines=0)
