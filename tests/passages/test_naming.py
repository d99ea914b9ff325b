"""A passage's name follows from its text and the key, and its id can be read again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from garden.events.keyring import Keyring
from garden.passages.naming import InvalidPassageIdError, Naming, parse_passage_id, passage_id

NAMING = Naming(b"k" * 32)


def test_a_name_is_short_and_of_its_text_and_key() -> None:
    name = NAMING.name("Sails")
    assert (len(name), name.islower() or name.isdigit()) == (10, True)
    assert name == Naming(b"k" * 32).name("Sails")
    assert len({name, NAMING.name("sails"), Naming(b"o" * 32).name("Sails")}) == 3


def test_a_number_is_of_the_place_and_the_name_and_fits_the_database() -> None:
    numbers = {
        NAMING.number(*parts)
        for parts in (("a", "b", "c"), ("a", "c", "b"), ("ab", "", "c"), ("a", "bc", ""))
    }
    assert len(numbers) == 4
    assert all(-(2**63) <= number < 2**63 for number in numbers)


def test_a_new_key_changes_no_name() -> None:
    keyring = Keyring.generate()
    assert Naming.of(keyring).name("a") == Naming.of(keyring.with_new_key()).name("a")


@given(st.text(), st.integers(1, 99))
def test_an_id_reads_back(anchor: str, number: int) -> None:
    name = NAMING.name("Sails") + (f"~{number}" if number > 1 else "")
    assert parse_passage_id(passage_id("users/tilda/notes.md", anchor, name)) == (
        "users/tilda/notes.md",
        anchor,
        name,
    )


@pytest.mark.parametrize(
    "text", ["", "users/tilda/notes.md", "a#b", "a#b/short", "a#b/aaaaaaaaaa~0", "#b/aaaaaaaaaa"]
)
def test_a_text_that_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(InvalidPassageIdError):
        parse_passage_id(text)
