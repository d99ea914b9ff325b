"""Which memories say the same, and a document without one of them."""

from cProfile import Profile

import pytest

from garden.grammar.apply import apply
from garden.grammar.parser import parse
from garden.passages.naming import Naming
from garden.recall.memories import full_words, is_same, named_passages, without

NAMING = Naming(b"k" * 32)
NOTES = """# Notes

An introduction.

Another one.

## Inbox
<!-- @anchor: inbox v1 -->

2026-11-18: slept well

2026-11-18: slept well

A paragraph
of two lines.

- one
  - nested
- two
- one
  - nested

2026-11-19: talked
- about the ferry
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Prefers oat milk in coffee", "She prefers the oat milk in coffee."),
        ("Wants to sail the Baltic", "Wants to sail the Baltic (priority: 80) #sailing"),
        ("She lives in Kiel", "Lives in Kiel"),
        ("Cafe\u0301 au lait", "Café  au lait!"),
        ("日本語を勉強する", "日本語を勉強する。"),
        ("2026-11-19: slept well", "2026-11-19: slept **well**"),
    ],
)
def test_the_same_words_are_the_same_memory(first: str, second: str) -> None:
    assert is_same(first, second)
    assert is_same(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Drinks 2 cups a day", "Drinks 3 cups a day"),
        ("Owes Mika 35 euros", "Owes Mika 3.5 euros"),
        ("The balance is -5", "The balance is 5"),
        ("Likes coriander", "Does not like coriander"),
        ("Can swim", "Can't swim"),
        ("Likes coriander", "~~Likes coriander~~"),
        ("Likes coriander", "Likes coriander?"),
        ("Lives in Kiel", "Lived in Kiel"),
        ("Is married", "Was married"),
        ("Visits Mika", "Visits Tove"),
        ("Mika loves Tove", "Tove loves Mika"),
        ("He left early", "She left early"),
        ("Moved to Kiel", "Moved from Kiel"),
        ("Has few friends", "Has a few friends"),
        ("2026-11-19: slept well", "2026-11-20: slept well"),
        ("Ferry 👍", "Ferry 👎"),
        ("She wants help", "She wants to help"),
        ("Tom paid by Ann", "Tom is paid by Ann"),
        ("Anna called Bea", "Anna is called Bea"),
        ("Mika loves", "Mika loves her"),
        ("Tove will nicht", "Tove will das nicht"),
        ("Das ist schon gut", "Das ist schön gut"),
        ("Trinkt in Massen", "Trinkt in Maßen"),
        ("Tiene un año", "Tiene un ano"),
        ("Writes C", "Writes C#"),
    ],
)
def test_another_word_number_accent_sign_or_order_makes_another_memory(first: str, second: str) -> None:
    assert not is_same(first, second)
    assert not is_same(second, first)


@pytest.mark.parametrize("anchor", ["", "inbox v1"])
def test_each_passage_can_be_removed_and_no_other_changes(anchor: str) -> None:
    document = parse(NOTES)
    standing = named_passages(document, anchor, NAMING)
    assert len({each.name for each in standing}) == len(standing) > 1
    for target in standing:
        after = apply(document, without(document, target)).after
        kept = [each.text for each in named_passages(after, anchor, NAMING)]
        assert kept == [each.text for each in standing if each is not target]
        elsewhere = {"", "inbox v1"} - {anchor}
        for other in elsewhere:
            assert named_passages(after, other, NAMING)
            assert [each.text for each in named_passages(after, other, NAMING)] == [
                each.text for each in named_passages(document, other, NAMING)
            ]


@pytest.mark.parametrize("text", ["x" * 50_000, "tea rose the " * 20_000])
def test_long_texts_are_compared_in_one_pass(text: str) -> None:
    """A pass over all pairs of characters or words would take minutes."""
    assert is_same(text, f"{text} the")
    assert not is_same(text, f"{text} 1")


def test_only_passages_with_the_words_are_read_and_their_names_stay() -> None:
    others = "".join(f"- tea on day {number}\n" for number in range(500))
    document = parse(f"## Inbox\n\n- Caf\u00e9 am Hafen\n{others}- Caf\u00e9 am Hafen\n")
    whole = named_passages(document, "Inbox", NAMING)
    with Profile() as profile:
        found = named_passages(document, "Inbox", NAMING, full_words("cafe\u0301 AM Hafen #sea"))
    calls = {getattr(each.code, "co_name", ""): each.callcount for each in profile.getstats()}
    assert found == [whole[0], whole[-1]]
    assert calls["passages_in"] == 2
