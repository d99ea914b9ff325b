import pytest

from garden.application import Garden
from garden.session import Session
from garden.tools import file_search
from garden.tools.search import Searcher, with_plain_ends
from tests.support.gardens import (
    CRITIC,
    NOTES,
    OVERVIEW,
    ok,
    plant,
    put,
    refused,
    result,
)


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
    assert full["meta"]["truncated"] == {"shown": 100, "total": 101}
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
    assert envelope["meta"]["truncated"] == {"shown": len(envelope["result"]), "total": 300}


@pytest.mark.parametrize("pattern", ["late", "LATE", "ä", "e\nl", "e\rl", "late\n", "\n", "it is late"])
@pytest.mark.parametrize("options", [{}, {"ignore_case": True}, {"literal": True}])
def test_a_plain_text_is_found_as_its_expression_is(pattern: str, options: dict[str, bool]) -> None:
    for text in ("", "it is late\n", "It is LATE, näher\r\nlate\rthe\nlate", "e\nl", "e\r\nl"):
        plain = Searcher(pattern, **options)
        matched = Searcher(pattern, **options)
        matched._needle = b""
        data = with_plain_ends(text.encode())
        assert list(plain.places(data)) == list(matched.places(data))


def test_columns_count_characters_from_one(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, "ärgerlich: ä late\r\nlate\r\n".encode())
    found = ok(ada, "fs.search", root=NOTES, pattern="late", context=1)
    assert found["meta"]["columns"] == [14, 1]
    assert (found["meta"]["totalMatches"], found["meta"]["filesSearched"]) == (2, 1)


def _pages(ada: Session, **asked: object) -> list[tuple[str, int]]:
    """The places of all pages, one match at a time."""
    seen: list[tuple[str, int]] = []
    cursor: dict[str, str] = {}
    while True:
        page = ok(ada, "fs.search", maxMatches=1, **asked, **cursor)
        assert page["meta"]["totalMatches"] >= len(page["result"])
        seen += [(each["path"], each["line"]) for each in page["result"]]
        if "cursor" not in page["meta"]:
            return seen
        cursor = {"cursor": page["meta"]["cursor"]}


def test_cursors_lead_through_all_matches_once(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, b"late\nlate\n")
    put(garden, CRITIC, b"late\nsoon\nlate\n")
    asked = {"root": "users/ada", "pattern": "late"}
    at_once = [(each["path"], each["line"]) for each in result(ada, "fs.search", **asked)]
    assert _pages(ada, **asked) == at_once
    assert len(at_once) == 4


def test_a_cursor_of_another_search_is_refused(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, b"late\nlate\nsoon\nsoon\n")
    asked = {"root": NOTES, "pattern": "late", "maxMatches": 1}
    cursor = ok(ada, "fs.search", **asked)["meta"]["cursor"]
    assert len(result(ada, "fs.search", **{**asked, "cursor": cursor, "context": 1})) == 1
    others = ({"pattern": "soon"}, {"groupByFile": True}, {"cursor": "x"}, {"cursor": cursor[:9] + ":-1:"})
    for other in others:
        error = refused(ada, "fs.search", "invalid_input", **{**asked, "cursor": cursor, **other})
        assert "meta.cursor" in error["hint"]


def test_several_roots_are_searched_once_each_and_excluded_files_not(garden: Garden, ada: Session) -> None:
    put(garden, NOTES, b"late\n")
    put(garden, CRITIC, b"late\n")
    both = {"root": NOTES, "roots": ["users/ada/parts", CRITIC], "pattern": "late"}
    assert [each["path"] for each in result(ada, "fs.search", **both)] == [NOTES, CRITIC]
    assert [each["path"] for each in result(ada, "fs.search", **both, exclude=["critic/*"])] == [
        NOTES,
        CRITIC,
    ]
    left = ok(ada, "fs.search", root="users/ada", pattern="late", exclude=["parts/**", "*.txt"])
    assert [each["path"] for each in left["result"]] == [NOTES]
    assert left["meta"]["filesSearched"] == 1
    refused(ada, "fs.search", "path_not_allowed", **{**both, "roots": ["users/bob"]})
    refused(ada, "fs.search", "not_found", **{**both, "roots": ["users/ada/parts/nobody"]})


def test_files_with_the_most_matches_come_first_on_request(garden: Garden, ada: Session) -> None:
    for number in range(7):
        put(garden, f"users/ada/parts/p{number}/notes.md", b"late\n" * number)
    grouped = ok(ada, "fs.search", root="users/ada", pattern="late", groupByFile=True, maxMatches=7)
    assert [each["matches"] for each in grouped["meta"]["files"]] == [6, 5, 4, 3, 2]
    assert [each["path"][16:18] for each in grouped["result"]] == ["p6"] * 6 + ["p5"]
    assert grouped["meta"]["totalMatches"] == 21
    assert grouped["meta"]["filesSearched"] == 7
    assert "cursor" not in grouped["meta"]


def test_counting_ends_at_a_limit_and_says_so(
    garden: Garden, ada: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_search, "COUNTED_MAX", 3)
    put(garden, NOTES, b"late\n" * 5)
    put(garden, CRITIC, b"late\n")
    found = ok(ada, "fs.search", root="users/ada", pattern="late")
    assert (found["meta"]["totalMatches"], found["meta"]["filesSearched"]) == (3, 1)
    assert "Counting ended" in found["meta"]["warnings"][-1]
