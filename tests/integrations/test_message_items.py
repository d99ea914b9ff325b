"""Messages as list items: whatever they hold, they are read back as they were."""

import re
from collections.abc import Mapping
from itertools import permutations, product
from typing import Any

import pytest

from garden.application import Garden
from garden.integrations.documents import append_text, change_text, text_or_nothing
from garden.integrations.message_items import Message, item_of, list_item, messages_in, plain_words
from garden.integrations.naming import document_name
from garden.integrations.opening import UserGarden

PIECES = (
    "word", " ", "\n", "\n\n", "- ", "  ", "user: ", "# ", "```", "`{}`", "{", "<!-- ", " -->", "---", "\t",
    "\r", "\u2028", "\u200d", "\ud800", "\x00", "",
)  # fmt: skip


def shapes_of(text: str) -> list[Message]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return [
        {"role": "user", "content": text},
        {"content": [part, {"text": "more"}], "role": "assistant", "id": text},
        {"type": "function_call", "arguments": text},
        {"role": text, "content": text},
    ]


def test_any_message_is_read_back_as_it_was_between_others() -> None:
    for pieces in product(PIECES, repeat=3):
        messages = shapes_of("".join(pieces))
        text = "# Title\n\n" + "\n\n".join(map(item_of, messages)) + "\n\nA remark.\n"
        assert messages_in(text) == messages, pieces
        # A comment ends where it should.
        assert all(line.count("--") == 2 for line in text.split("\n") if line.startswith("<!--")), text


@pytest.mark.parametrize(
    "item", ["- {", "- {]", "- [1]", "- user", "- user: x\n<!-- {]} -->", "- " + "{" * 10_000]
)
def test_an_item_that_is_no_message_is_a_remark(item: str) -> None:
    kept: Any = {"role": "user", "content": "Hello."}
    assert messages_in(f"{item}\n\n{item_of(kept)}\n") == [kept]


def test_plain_words_stay_one_item() -> None:
    for pieces in permutations(PIECES, 3):
        item = list_item(f"user: {plain_words(''.join(pieces))}")
        assert all(line == "" or line.startswith("  ") for line in item.split("\n")[1:]), item
        assert not re.search(r"^(- user: )?\s*(#|```)", item, re.MULTILINE), item


def test_names_of_documents_are_ids_and_no_two_are_the_same() -> None:
    given = [
        "a",
        "A",
        "a ",
        "",
        "é",
        "a--0123456789abcdef",
        "a" * 65,
        "a" * 66,
        "../a",
        "a/b",
        "a.b",
        "\ud800",
    ]
    names = [document_name(each) for each in given]
    assert len({*names}) == len(given)
    assert names[0] == "a"
    assert [document_name(each) for each in names[1:]] != names[1:]
    assert all(name.strip("abcdefghijklmnopqrstuvwxyz0123456789-") == "" for name in names)
    assert max(map(len, names)) <= 64


def test_a_change_is_made_again_on_what_another_wrote(garden: Garden) -> None:
    opening, path = UserGarden("ada", actor="test", garden=garden), "users/ada/memories/a.md"
    assert text_or_nothing(opening, path) == ""
    append_text(opening, path, "One.", title=" A\nb ", key="k1")
    others = iter(["Two.", "Three."])

    def change(text: str) -> str:
        if (other := next(others, None)) is not None:
            garden.session("ada").fs.append(path, other)
        return text.replace("One", "1")

    change_text(opening, path, change, "A test.")
    assert text_or_nothing(opening, path) == "# A b\n\n1.\n\nTwo.\n\nThree.\n"


class Overtaken(UserGarden):
    """Another writer begins each document just before this one does."""

    def ask(self, tool: str, fields: Mapping[str, Any]) -> Any:
        if tool == "fs.write":
            self.session.fs.write(fields["path"], "# Theirs\n\nTheir words.\n")
        return super().ask(tool, fields)


def test_a_document_that_another_begins_at_once_keeps_the_words_of_both(garden: Garden) -> None:
    opening, path = Overtaken("ada", actor="test", garden=garden), "users/ada/memories/a.md"
    append_text(opening, path, "One.", title="Mine", key="k1")
    assert text_or_nothing(opening, path) == "# Theirs\n\nTheir words.\n\nOne.\n"
