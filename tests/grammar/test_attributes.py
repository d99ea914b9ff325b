"""Attributes are read from an item's text and written into it, and everything else stays words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from garden.grammar.attributes import (
    SUMMARY_TYPES,
    Attributes,
    misread_attributes,
    read_attributes,
    with_attributes,
    with_period,
)
from garden.grammar.refusals import InvalidInputError
from tests.grammar.strategies import markdown

PARTS = (
    "Sail",
    "#sea",
    "#Sea",
    "(priority: 5)",
    "(priority: 80)",
    "`",
    "``",
    "#",
    "(",
    "2026 (yearly):",
    "\n",
)
KEYS = {
    "daily": "2026-11-19",
    "weekly": "2026-W47",
    "monthly": "2026-11",
    "quarterly": "2026-Q4",
    "yearly": "2026",
}
_tags = st.from_regex(r"[^\W\d_][\w-]{0,5}", fullmatch=True)
_texts = st.lists(st.sampled_from(PARTS)).map(" ".join) | markdown(3) | st.text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wants to sail (priority: 80) #sailing", Attributes("Wants to sail", ("sailing",), 80)),
        ("Sails #a #b-2 (Priority:0)", Attributes("Sails", ("a", "b-2"), 0)),
        ("Sails #a\n- nested #b", Attributes("Sails\n- nested #b", ("a",))),
        ("Segelt #Übersee #a #a", Attributes("Segelt", ("Übersee", "a"))),
        ("#only", Attributes("", ("only",))),
        ("(priority: 1) (priority: 2)", Attributes("(priority: 1)", (), 2)),
        ("2026-W47 (weekly): Slept #rest", Attributes("Slept", ("rest",), None, "weekly", "2026-W47")),
        (
            "2026-11-19 (conversation chat-7): Talked",
            Attributes("Talked", (), None, "conversation", "2026-11-19", "chat-7"),
        ),
    ],
)
def test_attributes_are_read(text: str, expected: Attributes) -> None:
    assert read_attributes(text) == expected
    assert not list(misread_attributes(text)) or text.count("priority") == 2


@pytest.mark.parametrize(
    "text",
    [
        *("Number #1", "In C#", "a#b", "# heading", "See `a #b`", "See [it #tag](u)", "`open #tag\nclosed`"),
        *("#tag and words", "(priority: 101)", "(priority: high)", "(priority: 080)", "x(priority: 8)"),
        *("2026-W60 (weekly): a", "2026-W47 (daily): a", "2026-11-19 (weekly x): a", "2026-13 (monthly): a"),
    ],
)
def test_what_only_looks_like_an_attribute_stays_among_the_words(text: str) -> None:
    assert read_attributes(text) == Attributes(text)


@given(_texts)
def test_reading_never_fails_and_loses_no_word(text: str) -> None:
    read = read_attributes(text)
    known = [f"#{tag}" for tag in read.tags] + [f"(priority: {read.priority})"]
    known.append(f"{read.period_key} ({read.summary_type} {read.chat}): ({read.summary_type}):")
    assert set(text.split()) <= {*read.words.split(), *" ".join(known).split()}
    list(misread_attributes(text))


@given(_texts, st.lists(_tags, max_size=3), st.none() | st.integers(0, 100))
def test_what_is_written_reads_back_the_same(words: str, tags: list[str], priority: int | None) -> None:
    own = read_attributes(words)
    try:
        text = with_attributes(words, tags, priority)
    except InvalidInputError:
        assert "`" in words
        return
    read = read_attributes(text)
    assert read.tags == tuple(dict.fromkeys((*own.tags, *tags)))
    assert read.priority == (own.priority if priority is None else priority)
    assert read.words.split() == own.words.split()
    assert with_attributes(text, tags, priority) == text


@pytest.mark.parametrize(
    ("tags", "priority"), [(["2"], None), (["a b"], None), ([""], None), ([], 101), ([], -1)]
)
def test_an_attribute_that_would_not_read_back_is_refused(tags: list[str], priority: int | None) -> None:
    with pytest.raises(InvalidInputError):
        with_attributes("Sail", tags, priority)


@pytest.mark.parametrize("summary_type", KEYS)
def test_a_summary_reads_back_and_a_key_of_another_type_is_refused(summary_type: str) -> None:
    text = with_attributes(with_period("Slept", summary_type, KEYS[summary_type]), ["rest"], 3)
    assert read_attributes(text) == Attributes("Slept", ("rest",), 3, summary_type, KEYS[summary_type])
    for other in set(SUMMARY_TYPES) - {summary_type, "conversation"}:
        with pytest.raises(InvalidInputError):
            with_period("Slept", summary_type, KEYS[other])


def test_a_conversation_may_have_a_name_without_spaces() -> None:
    text = with_period("Talked", "conversation", "2026-11-19", "chat-7")
    assert text == "2026-11-19 (conversation chat-7): Talked"
    with pytest.raises(InvalidInputError):
        with_period("Talked", "conversation", "2026-11-19", "chat 7")
