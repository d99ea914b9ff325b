"""A text is read the same with an earlier version of it as without one, and shares what did not change."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from garden.grammar.document import Document
from garden.grammar.parser import parse, with_bodies
from tests.grammar.strategies import ENDS, FRONTMATTER, documents, markdown, profiles, random_markdown
from tests.support.hypothesis_profiles import NIGHTLY

CHANGES_PER_SEED = 100_000 if NIGHTLY else 1_500
LINES = (
    *(
        "## A",
        "## B",
        "## B",
        "# T",
        "### C",
        "<!-- @anchor: a v1 -->",
        "<!-- @anchor: b v2 -->",
        "<!-- @anchor: a",
    ),
    *("B\n---", "[a]: /u", "'t", "t'", "```", "<!--", "-->", "<div>", "- a", "---", "id: a", "- " * 10 + "x"),
)


def assert_read_the_same(before: Document, text: str) -> Document:
    return assert_same(parse(text, before), parse(text))


def assert_same(after: Document, expected: Document) -> Document:
    """Compare with a parse from scratch: first all that is stored, then all that is derived from it."""
    assert after == expected
    assert (after.text, after.newline, after.hash) == (expected.text, expected.newline, expected.hash)
    assert (after.headings, after.lines) == (expected.headings, expected.lines)
    assert [section.items for section in after.sections] == [section.items for section in expected.sections]
    return after


_pieces = st.lists(st.sampled_from(LINES) | markdown(3), max_size=8)
_texts = (
    profiles()
    | documents()
    | st.tuples(st.sampled_from(FRONTMATTER), _pieces, st.sampled_from(ENDS)).map(
        lambda parts: parts[0] + "".join(piece + parts[2] for piece in parts[1])
    )
)
_new_words = st.sampled_from(("", "\n", "\r", "x", "#", " ")) | st.sampled_from(LINES) | markdown(3)
_splices = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), _new_words), min_size=1, max_size=3)


@given(_texts, st.lists(_splices, min_size=1, max_size=3))
def test_a_changed_text_is_read_as_without_the_earlier_version(
    text: str, versions: list[list[tuple[float, int, str]]]
) -> None:
    document = parse(text)
    for splices in versions:
        for share, removed, words in splices:
            place = round(share * len(text))
            text = text[:place] + words + text[place + removed :]
        document = assert_read_the_same(document, text)


@given(_texts, st.lists(st.tuples(st.integers(0, 9), _pieces, st.sampled_from(ENDS)), max_size=2))
def test_a_document_with_other_bodies_is_read_as_without_the_earlier_version(
    text: str, changes: list[tuple[int, list[str], str]]
) -> None:
    document = parse(text)
    numbers = [document.number_of(section) for section in document.sections]
    bodies = {
        numbers[which % len(numbers)]: end.join(pieces) + end for which, pieces, end in changes if numbers
    }
    texts = [
        content.text[: content.head_end] + bodies.get(number, content.body)
        for number, content in enumerate(document.contents)
    ]
    assert_same(with_bodies(document, bodies), parse("".join(texts)))


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("## A", "\nx"),
        ("## A\n\n## B\n", "x"),
        ("## A\n\n    ## B\n## C\n", "- a"),
        ("## A\n\nB\n---\n", "x\n"),
        ("## A\n", "> <!-- @anchor: a v1 -->\n"),
        ("[a]: /u\n'x\n---\n\n## B\n", "y'\n"),
        ("---\nid: a\n---\n---\nuser_id: u\n\n## B\n", "- a\n...\n"),
    ],
)
def test_a_body_that_touches_more_than_its_section_is_read_with_the_whole_text(text: str, body: str) -> None:
    document = parse(text)
    section = document.sections[0]
    after = section.span.start + section.content.head_end
    expected = parse(text[:after] + body + text[section.span.end :])
    assert_same(with_bodies(document, {document.number_of(section): body}), expected)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## A\n\nz\n\n'x\n===\nfoo'\n", "## A\n\n[a]: /u\n'x\n===\nfoo'\n"),
        ("## A\n\n[a]: /u\n'x\n===\nfoo\n", "## A\n\n[a]: /u\n'x\n===\nfoo'\n"),
        (
            "---\nid: a\n---\n---\nuser_id: u\n\n## B\nx\n",
            "---\nid: a\n---\n---\nuser_id: u\n\n## B\n\n---\n",
        ),
        ("# A\n\n## B\rx\n", "# A\n\n## B\r\nx\n"),
        ("# A\n\n## B", "# A\n\n## B C"),
    ],
)
def test_what_stands_below_can_decide_what_a_line_is(before: str, after: str) -> None:
    assert_read_the_same(parse(before), after)


@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_seeded_changes_are_read_as_without_the_earlier_version(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - no secrets here
    text, document = "", parse("")
    for _ in range(CHANGES_PER_SEED):
        place = random.randint(0, len(text))
        words = random.choice((f"{random.choice(LINES)}\n", random_markdown(random), "\r", "\n", ""))
        removed = random.randint(0, 20) if len(text) < 400 else random.randint(0, 200)
        text = text[:place] + words + text[place + removed :]
        document = assert_read_the_same(document, text)


def test_sections_that_did_not_change_are_shared() -> None:
    body = "".join(f"## S{number}\n\n- a\n- b\n\n" for number in range(6))
    before = parse(f"---\nid: a\n---\n\n# T\n\n{body}")
    after = parse(before.text.replace("S2\n\n- a", "S2\n\n- c").replace("S4\n\n- a\n", "S4\n\n"), before)
    shared = [new is old for new, old in zip(after.contents, before.contents, strict=True)]
    assert shared == [True, True, True, True, False, True, False, True]


def test_a_new_section_leaves_the_others_shared() -> None:
    before = parse("# T\n\n## A\n\na\n\n## B\n\nb\n")
    after = parse("# T\n\n## A\n\na\n\n## New\n\n## B\n\nb\n", before)
    assert [content in before.contents for content in after.contents] == [True, True, True, False, True]
    assert after.contents[-1] is before.contents[-1]
