"""What a change does to the rows of a document, applied to the rows before it, gives those after it."""

from cProfile import Profile
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from garden.events.passages import PassageChanges, PassageRow
from garden.grammar.document import Document
from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.parser import parse
from garden.passages.extraction import ANALYSIS, kept_pieces, pieces_of
from garden.passages.naming import Naming
from garden.passages.rows import changes_between, rows_of
from tests.grammar.strategies import documents, markdown

PATH, TODAY = "users/tilda/notes.md", date(2026, 11, 19)
NAMING = Naming(b"k" * 32)
OVERVIEW = load_kinds()["overview"]
LINES = (
    *("", "", "", "- a", "- a", "- b", "- a b", "  more", "- 2026-11-17: c", "2026-11-18:", "2026-11-18: d"),
    *(
        "Words.",
        "a",
        "- e (priority: 80) #Tag",
        "```",
        "> q",
        "<!-- x",
        "-->",
        "1. f",
        "## Inbox",
        "## Facts",
    ),
    *(
        "<!-- @anchor: facts v1 -->",
        "<!-- @anchor: change_log v1 -->",
        "### Day 2026-01-02",
        "### Trip",
        "# T",
        "# Long days",
    ),
    *("---\nlanguage: de\n---", "---", "Und nicht mehr oder auch die Häuser, sie sind da"),
)
_lines = st.lists(st.sampled_from(LINES), max_size=14)
_texts = _lines.map("\n".join) | documents() | markdown()


def read(text: str, path: str = PATH) -> dict[int, PassageRow]:
    return rows_of(parse(text), OVERVIEW, path, TODAY, NAMING)


def changed(before: Document | None, after: Document | None) -> PassageChanges:
    return changes_between(before, after, OVERVIEW, PATH, 7, TODAY, NAMING)


def applied(old: dict[int, PassageRow], changes: PassageChanges) -> dict[int, PassageRow]:
    assert set(changes.gone) <= old.keys()
    kept = {number: row for number, row in old.items() if number not in changes.gone}
    return kept | {row.passage: row._replace(was=None) for row in changes.come}


def assert_exact(before: str, after: str) -> PassageChanges:
    old = parse(before)
    new = parse(after, old)
    changes = changed(old, new)
    assert all(
        each.kept.get((kept_pieces, None), pieces_of(each, None)) == pieces_of(each, None)
        for each in new.contents
    )
    assert applied(read(before), changes) == read(after)
    both = {row.passage for row in changes.come} & set(changes.gone)
    assert not any(read(after)[number].is_dated for number in both)
    assert all(read(before).get(row.passage) != row for row in changes.come)
    return changes


@given(_texts, _texts)
def test_the_changes_between_two_texts_are_exact(before: str, after: str) -> None:
    assert_exact(before, after)


@given(_lines, st.data())
def test_the_changes_of_an_edit_are_exact(lines: list[str], data: st.DataObject) -> None:
    top = data.draw(st.integers(0, len(lines)))
    end = data.draw(st.integers(top, len(lines)))
    new = data.draw(st.lists(st.sampled_from(LINES), max_size=3))
    place = data.draw(st.integers(0, len(lines)))
    edited = lines[:top] + new + lines[end:]
    edited[place:place] = data.draw(st.sampled_from(([], lines[top:end])))
    assert_exact("\n".join(lines), "\n".join(edited))


def inbox(*items: str) -> str:
    return "## Inbox\n<!-- @anchor: inbox v1 -->\n\n" + "".join(f"- {item}\n" for item in items)


def test_an_appended_item_is_one_row_and_an_inserted_one_relinks_the_next() -> None:
    (row,) = assert_exact(inbox("a", "b"), inbox("a", "b", "c")).come
    assert (row.text, row.anchor, row.day, row.is_dated, row.was) == ("c", "inbox v1", TODAY, False, None)
    inserted = assert_exact(inbox("a", "b"), inbox("a", "c", "b"))
    assert ([row.text for row in inserted.come], inserted.gone) == (["c", "b"], ())
    assert (inserted.path, inserted.version, inserted.analysis) == (PATH, 7, ANALYSIS)


def test_equal_passages_are_numbered_from_above() -> None:
    first, second = read(inbox("a", "b", "a")).values(), read(inbox("a")).values()
    names = [row.name for row in first]
    assert names[2] == f"{names[0]}~2"
    changes = assert_exact(inbox("a", "b", "a"), inbox("b", "a"))
    assert [row.name for row in second] == [row.name for row in changes.come if row.text == "a"]


def test_rows_come_and_go_with_their_document() -> None:
    text = inbox("a", "b")
    made, removed = changed(None, parse(text)), changed(parse(text), None)
    assert {row.passage for row in made.come} == set(removed.gone) == read(text).keys()
    assert not made.gone
    assert not removed.come


def test_a_passage_in_another_section_names_the_one_that_it_was() -> None:
    before, after = inbox("a", "b") + "## Facts\n", inbox("a") + "## Facts\n- b\n"
    changes = assert_exact(before, after)
    (row,) = changes.come
    assert (row.anchor, row.was) == ("Facts", changes.gone[0])


def test_a_passage_whose_day_only_its_heading_named_is_another_elsewhere() -> None:
    dated = inbox() + "### 2026-01-05\n- a\n"
    (row,) = assert_exact(dated, inbox() + "## Facts\n- a\n").come
    assert row.was is None
    # Under another heading it stays the same, so it has not gone to where an equal one comes.
    both = inbox() + "### Kiel\n- a\n## Facts\n### 2026-01-06\n- a\n"
    come = assert_exact(dated, both).come
    assert [row.was for row in come] == [None, None]


def test_a_title_that_says_more_than_the_path_stands_above_the_headings() -> None:
    text = "# {}\n\nFirst.\n\n## Cleaning\n\n- the chain\n"
    for title, headings in (
        ("Looking after bicycles", {"Looking after bicycles", "Looking after bicycles > Cleaning"}),
        ("The notes of Tilda", {"The notes of Tilda", "Cleaning"}),
    ):
        rows = read(text.format(title)).values()
        assert {row.heading for row in rows} == headings


def test_the_change_log_has_no_rows() -> None:
    log = "## Change Log\n<!-- @anchor: change_log v1 -->\n\n- a\n"
    assert read(inbox("b") + log).keys() == read(inbox("b")).keys()
    assert not rows_of(parse(log), None, PATH, TODAY, NAMING)


def test_the_frontmatter_names_the_language_before_the_garden_does() -> None:
    text = "---\nlanguage: German\n---\n" + inbox("tea")
    document = parse(text)
    (row,) = rows_of(document, None, PATH, TODAY, NAMING, "fr").values()
    assert row.language == "de"
    for said in ("", text.replace("German", "3"), text.replace("German", "[de]")):
        (row,) = rows_of(parse(said or inbox("tea")), None, PATH, TODAY, NAMING, "French").values()
        assert row.language == "fr"


def test_only_what_is_around_a_change_is_read() -> None:
    entries = [f"2026-11-18: entry {number} of many" for number in range(2000)]
    document = parse(inbox(*entries) + "## Facts\n- a\n")
    after = parse(inbox(*entries, "new") + "## Facts\n- a\n", document)
    with Profile() as profile:
        changes = changed(document, after)
    calls = {getattr(each.code, "co_name", ""): each.callcount for each in profile.getstats()}
    assert [row.text for row in changes.come] == ["new"]
    assert (calls["pieces_of"], calls["number"]) == (2, 3)
