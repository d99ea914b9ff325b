from collections.abc import Mapping

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from garden.grammar.apply import apply
from garden.grammar.edits import AppendToFile, ReplaceSection, WriteFile
from garden.grammar.parser import parse
from garden.grammar.refusals import IdentityChangedError, MalformedDocumentError

GOOD = "id: a\nuser_id: u\nschema: 1\n"


def with_block(block: str) -> str:
    return f"---\n{block}---\n\n# T\n"


@pytest.mark.parametrize("block", [GOOD, GOOD + "tags: [work, sleep]\nborn: 1990-05-01\nn: {a: [1, 2.5]}\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_plain_block_reads_the_same_as_in_python_frontmatter(block: str, newline: str) -> None:
    text = with_block(block).replace("\n", newline)
    document = parse(text)
    metadata, _ = frontmatter.parse(text)
    assert {name: plain(value) for name, value in document.values.items()} == metadata


def plain(value: object) -> object:
    """Turn frozen values into plain dicts and lists."""
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    ("block", "fault"),
    [
        ("id: a\nid: b\n", "twice"),
        ('id: a\n"id": b\n', "twice"),
        ("x: {y: 1, y: 2}\n", "twice"),
        ("id: a\nx:\n  - y: 1\n    y: 2\n", "twice"),
        ("1: a\n", "not a string"),
        ("null: a\n", "not a string"),
        ("yes: a\n", "not a string"),
        ("? [id]\n: a\n", "not a string"),
        ("? {id: x}\n: a\n", "not a string"),
        ("<<: {id: b}\n", "not a string"),
        ('"<<": {id: b}\n', "merge key"),
        ("x: &id a\n", "anchor"),
        ("x: &b 1\nid: *b\n", "alias"),
        ("id: !!str a\n", "tag"),
        ("id: !x a\n", "tag"),
        ("!!map\nid: a\n", "tag"),
        ("id:\ta\n", "tab"),
        ("x: |\n  a\tb\n", "tab"),
        ("- id\n", "keys and values"),
        ("id\n", "keys and values"),
        ("id: [\n", "not valid YAML"),
        ("id: 2026-02-30\n", "not valid YAML"),
        ("id: a\n...\n", "marker"),
        ("--- !!map\nid: a\n", "marker"),
        ("%YAML 1.1\n", "not valid YAML"),
        ("id: a\u2028user_id: b\n", "line separator"),
        ("id: a\x85user_id: b\n", "line separator"),
        ("id: a\0\n", "NUL"),
        ("id: \ud800\n", "surrogate"),
        ("\ufeffid: a\n", "byte order mark"),
        ('id: a\nx: "\n----\n"\n', "dashes"),
        ('id: a\nx: "\n---\u00a0\n"\n', "dashes"),
        ("x: 1" + ":1" * 500_000 + "\n", "too long"),
        ("x: [1" + ":1" * 60 + ".5]\n", "too long"),
        ("x: " + "[" * 60 + "]" * 60 + "\n", "deeply"),
    ],
)
def test_a_block_that_readers_may_disagree_about_is_malformed(block: str, fault: str) -> None:
    document = parse(with_block(block))
    assert document.malformed
    assert document.values == {}
    assert any(fault in problem.message for problem in document.problems)


@pytest.mark.parametrize(
    "text",
    [
        f"---\n{GOOD}---\n---\nid: b\n---\n",
        f"---\n{GOOD}---\n\n\n---\nuser_id: b\n---\n",
        f"---\n{GOOD}---\n----\n'id' : b\n----\n",
        f"---\n{GOOD}---\n---\n{{id: b}}\n...\n",
        f"\n---\n{GOOD}---\n",
        f" ---\n{GOOD}---\n",
        f"\u00a0\n---\n{GOOD}---\n",
        f"\ufeff\ufeff---\n{GOOD}---\n",
        '\n---\n"\\u0069d": b\n---\n',
        "\n---\n? id\n: b\n---\n",
        "\n---\n!!str id: b\n---\n",
        "\n---\nx: &y b\n&z id: *y\n---\n",
    ],
)
def test_a_second_or_misplaced_block_makes_a_document_malformed(text: str) -> None:
    assert "frontmatter_second" in [problem.code for problem in parse(text).problems]
    assert parse(text).malformed


def test_an_unclosed_block_makes_a_document_malformed() -> None:
    assert parse(f"---\n{GOOD}\n# T\n").malformed


def test_horizontal_rules_below_the_frontmatter_are_no_second_block() -> None:
    assert not parse(f"---\n{GOOD}---\n\n---\n\nThe id: of things\n\n---\n").problems


def test_values_keep_their_types_and_are_read_only() -> None:
    values = parse(with_block("id: '1'\nschema: 1\nparticipants: [a, b]\nmore: {x: 1.5}\nempty:\n")).values
    assert values["id"] == "1"
    assert values["schema"] == 1
    assert values["participants"] == ("a", "b")
    with pytest.raises(TypeError):
        values["more"]["x"] = 2  # type: ignore[index]


def test_an_empty_block_is_valid() -> None:
    document = parse("---\n---\n# T\n")
    assert document.frontmatter is not None
    assert document.values == {}
    assert not document.problems


def test_no_tool_edits_a_document_with_malformed_frontmatter() -> None:
    for edit in (AppendToFile("x"), WriteFile(with_block(GOOD)), ReplaceSection("nothing", "x")):
        with pytest.raises(MalformedDocumentError):
            apply(parse(with_block("id: a\nid: b\n")), edit)


@given(st.text("idusercmaprnt_:&*!? \t\n\"'{}[],-|>#%@`01\r\x85\u2028<", max_size=60))
def test_parsing_any_block_never_raises(block: str) -> None:
    parse(with_block(block + "\n"))


IDENTITY_BLOCKS = (
    "id: b\nuser_id: u\nschema: 1\n",
    '"id": b\nuser_id: u\nschema: 1\n',
    "schema: 1\nuser_id: u\nid: b\n",
    "id: a\nuser_id: u\nschema: '1'\n",
    "id: a\nuser_id: u\nschema: 1.0\n",
    "id: a\nuser_id: u\nschema: true\n",
    "id: a\nuser_id: u\n",
    "user_id: u\nschema: 1\n",
    "id: a\nuser_id: u\nschema: 1\nparticipants: [a]\n",
    "Id: a\nuser_id: u\nschema: 1\n",
    "",
)


@pytest.mark.parametrize("block", IDENTITY_BLOCKS)
def test_no_edit_changes_the_identity(block: str) -> None:
    with pytest.raises(IdentityChangedError):
        apply(parse(with_block(GOOD)), WriteFile(with_block(block)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("id: on", "id: yes"),
        ("schema: 8", "schema: 010"),
        ("schema: 90", "schema: 1:30"),
        ("schema: 10", "schema: 1_0"),
        ("id: 1e3", "id: '1e3'"),
        ("id: 0o17", "id: '0o17'"),
        ("participants: [a, {b: on}]", "participants: [a, {b: true}]"),
    ],
)
def test_no_edit_changes_the_identity_for_a_reader_of_yaml_1_2(old: str, new: str) -> None:
    for before, after in ((old, new), (new, old)):
        with pytest.raises(IdentityChangedError):
            apply(parse(with_block(before + "\n")), WriteFile(with_block(after + "\n")))


@pytest.mark.parametrize("participants", ["[b, a]", "[a]", "a", "[a, b, c]", "['a', 1]", "{a: b}"])
def test_no_edit_changes_the_participants(participants: str) -> None:
    before = parse(with_block(GOOD + "participants: [a, b]\n"))
    with pytest.raises(IdentityChangedError):
        apply(before, WriteFile(with_block(f"{GOOD}participants: {participants}\n")))


@pytest.mark.parametrize(
    "block",
    [
        "schema: 1\nuser_id: u\nid: a\n",
        "\"id\": 'a'\nuser_id: u\nschema: 1\n",
        GOOD + "mood: good\n",
        "# said otherwise\n" + GOOD,
    ],
)
def test_the_same_identity_may_be_spelled_differently(block: str) -> None:
    assert apply(parse(with_block(GOOD)), WriteFile(with_block(block))).text == with_block(block)


@pytest.mark.parametrize(
    "text",
    [
        f"---\nid: a\n{GOOD}---\n# T\n",
        f"---\nx: &id a\n{GOOD}---\n# T\n",
        f"---\n{GOOD}---\n---\nid: b\n---\n# T\n",
        f"---\n{GOOD}1: x\n---\n# T\n",
        f"---\n{GOOD}x:\ty\n---\n# T\n",
    ],
)
def test_no_edit_makes_the_frontmatter_malformed(text: str) -> None:
    with pytest.raises(MalformedDocumentError):
        apply(parse(with_block(GOOD)), WriteFile(text))


def test_a_long_string_of_digits_and_colons_is_no_number() -> None:
    block = f"{GOOD}x: '{':'.join('1' * 200)}'\ny: at {':'.join('1' * 200)}\n"
    assert not parse(with_block(block)).problems
