from typing import Any

import pytest

from garden.application import Garden, open_garden
from garden.grammar.canonical import content_hash
from garden.home.folder import Home
from garden.session import Session
from garden.tools.search import Searcher
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


def test_matches_tell_path_line_and_text(ada: Session) -> None:
    plant(ada, NOTES, CRITIC)
    assert result(ada, "fs.search", root="users/ada", pattern="^## (Inbox|Needs)$") == [
        {"path": NOTES, "line": 12, "match": "## Inbox"},
        {"path": CRITIC, "line": 15, "match": "## Needs"},
    ]


def test_a_line_that_matches_twice_is_one_match(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="late, late, late")
    assert len(result(ada, "fs.search", root=NOTES, pattern="late")) == 1


def test_a_search_takes_a_glob(ada: Session) -> None:
    plant(ada, NOTES, CRITIC, OVERVIEW)
    found = result(ada, "fs.search", root="users/ada", pattern="^# ", glob="**/*es.md")
    assert [each["path"] for each in found] == [NOTES]


def test_a_search_may_ignore_case(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="ÄRGER")
    assert result(ada, "fs.search", root=NOTES, pattern="ärger") == []
    assert len(result(ada, "fs.search", root=NOTES, pattern="ärger", ignoreCase=True)) == 1


def test_a_literal_search_takes_signs_for_themselves(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="what (really?")
    assert len(result(ada, "fs.search", root=NOTES, pattern="(really?", literal=True)) == 1


def test_context_gives_the_lines_around(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="one\ntwo\nthree")
    (found,) = result(ada, "fs.search", root=NOTES, pattern="two", context=1)
    assert (found["line"], found["match"]) == (16, "one\ntwo\nthree")


def test_surplus_matches_are_reported_as_truncated(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="\n".join(["tick"] * 101))
    full = ok(ada, "fs.search", root=NOTES, pattern="tick")
    assert len(full["result"]) == 100
    assert full["meta"]["truncated"] == {"shown": 100}
    three = ok(ada, "fs.search", root=NOTES, pattern="tick", maxMatches=3)
    assert len(three["result"]) == 3
    assert "more than 3" in three["meta"]["warnings"][0]
    refused(ada, "fs.search", "invalid_input", root=NOTES, pattern="tick", maxMatches=101)


def test_exactly_as_many_matches_as_allowed_are_not_truncated(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="tick\ntick\ntick")
    assert "truncated" not in ok(ada, "fs.search", root=NOTES, pattern="tick", maxMatches=3)["meta"]


def test_an_invalid_pattern_is_refused_with_a_hint(ada: Session) -> None:
    plant(ada, NOTES)
    for pattern in ("(", "a{2,1}", "[z-a]", "(?=a)", r"(a)\1", ")("):
        assert "literal" in refused(ada, "fs.search", "invalid_input", root=NOTES, pattern=pattern)["hint"]


def test_a_pattern_that_others_choke_on_is_answered(ada: Session) -> None:
    plant(ada, NOTES)
    ok(ada, "fs.append", path=NOTES, text="a" * 100_000 + "!")
    assert result(ada, "fs.search", root=NOTES, pattern="^(a+)+$") == []


def test_an_unreadable_file_is_skipped_with_a_warning(garden: Garden, ada: Session) -> None:
    plant(ada, NOTES)
    put(garden, OVERVIEW, b"\xff")
    envelope = ok(ada, "fs.search", root="users/ada", pattern="Inbox")
    assert [each["path"] for each in envelope["result"]] == [NOTES]
    assert OVERVIEW in envelope["meta"]["warnings"][0]


@pytest.mark.parametrize("root", [NOTES, "users/ada/parts", "history/ada/notes"])
def test_searching_a_missing_place_is_not_found(ada: Session, root: str) -> None:
    refused(ada, "fs.search", "not_found", root=root, pattern="a")


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


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("^", [1, 2, 3, 4]),
        ("^b", [2]),
        ("c$", [4]),
        (r"\Qb.", [2]),
        ("x*", [1, 2, 3, 4]),
        ("^$", [3]),
        ("a|b", [1, 2]),
    ],
)
def test_a_pattern_is_matched_line_by_line(
    garden: Garden, ada: Session, pattern: str, lines: list[int]
) -> None:
    put(garden, NOTES, b"a a a\r\nb.b\r\n\r\nc c\r\n")
    found = result(ada, "fs.search", root=NOTES, pattern=pattern)
    assert [match["line"] for match in found] == lines


def test_a_search_ends_before_its_answer_grows_too_long(garden: Garden, ada: Session) -> None:
    line = "word " * 350
    put(garden, NOTES, "\n".join([line] * 300).encode())
    envelope = ok(ada, "fs.search", root=NOTES, pattern="word", context=20)
    assert 0 < len(envelope["result"]) < 100
    assert envelope["meta"]["truncated"] == {"shown": len(envelope["result"])}


@pytest.mark.parametrize("pattern", ["late", "LATE", "ä", "e\nl", "e\rl", "late\n", "\n", "it is late"])
@pytest.mark.parametrize("options", [{}, {"ignore_case": True}, {"literal": True}])
def test_a_plain_text_is_found_as_its_expression_is(pattern: str, options: dict[str, bool]) -> None:
    for text in ("", "it is late\n", "It is LATE, näher\r\nlate\rthe\nlate", "e\nl", "e\r\nl"):
        plain = Searcher(pattern, **options)
        matched = Searcher(pattern, **options)
        matched._needle = b""
        assert list(plain.lines(text.encode(), 1, 100)) == list(matched.lines(text.encode(), 1, 100))
