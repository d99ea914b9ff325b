import re

import pytest
from hypothesis import given

from garden.grammar.canonical import canonical, content_hash
from garden.grammar.parser import parse
from tests.grammar.strategies import any_text


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("", "\n"),
        ("a", "a\n"),
        ("a\n\n\n", "a\n"),
        ("a \t\r\nb\rc\x0b\x0c\n", "a\nb\nc\n"),
        ("\n\na", "\n\na\n"),
        (" a", " a\n"),
        ("a\u00a0\n", "a\u00a0\n"),
        ("\ufeffa", "\ufeffa\n"),
        ("a\\ \n", "a\\\n"),
    ],
)
def test_the_canonical_form(text: str, form: str) -> None:
    assert canonical(text) == form


@given(any_text())
def test_the_canonical_form_is_idempotent(text: str) -> None:
    form = canonical(text)
    assert canonical(form) == form
    assert "\r" not in form
    assert form.endswith("\n")
    assert not form.endswith("\n\n")
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", content_hash(text))


def test_a_known_hash() -> None:
    digest = "sha256:87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"
    assert content_hash("a") == content_hash("a \r\n\r\n") == digest


def test_a_section_keeps_its_hash_when_white_space_around_it_changes() -> None:
    tidy = parse("## A\n<!-- @anchor: a v1 -->\n\nx\n\n## B\n")
    loose = parse("# T\r\n## A \r\n<!-- @anchor: a v1 -->\r\n\r\nx\t\r\n\r\n\r\n## C")
    assert tidy.sections[0].hash == loose.sections[0].hash
    assert tidy.sections[0].hash != parse("## A\n<!-- @anchor: a v2 -->\n\nx\n").sections[0].hash
    assert tidy.hash != loose.hash


def test_long_runs_of_inner_white_space_are_kept() -> None:
    assert len(canonical("a" + " " * 500_000 + "b")) == 500_003
